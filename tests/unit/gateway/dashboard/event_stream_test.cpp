#include "gateway/dashboard/event_stream.hpp"

#include "common/events/events.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;

namespace {

// What the database says of every session.
enum class sessions { open, ended, unknown };

awaitable<bool> check_session(const sessions& now)
{
    if (now == sessions::unknown)
        throw std::runtime_error("PostgreSQL is away");
    co_return now == sessions::open;
}

kafka::record email_for(account_id account, const std::string& subject)
{
    events::v1::EmailReceived event;
    event.set_email_id(email_id::make().text());
    event.set_inbox_id(inbox_id::make().text());
    event.set_account_id(account.text());
    event.set_sequence(7);
    event.set_subject(subject);
    const auto sent = events::make_activity(events::make_row(event, trace::traceparent::make()));
    kafka::record record;
    record.topic = sent.topic;
    record.key = sent.key;
    record.value = sent.value;
    return record;
}

struct arranged_stream
{
    explicit arranged_stream(event_stream::check_times times = {})
        : stream(testing::test_host(), [this](std::string) { return check_session(said); }, times)
    {}

    sessions said = sessions::open;
    event_stream stream;
    account_id alice = account_id::make();
    account_id bob = account_id::make();

    std::shared_ptr<const http::body_source> open(account_id account)
    {
        return stream.open(account, "digest").value();
    }
    static std::string next(const std::shared_ptr<const http::body_source>& source)
    {
        return testing::await(source->next());
    }
};

} // namespace

TEST_CASE("a stream says that it stands, then each new mail of its account, and of nobody else",
          "[gateway][event_stream]")
{
    arranged_stream arranged;
    const auto source = arranged.open(arranged.alice);
    CHECK(arranged_stream::next(source).find("event: ready\n") != std::string::npos);

    arranged.stream.take_events(
        {email_for(arranged.bob, "for bob"), email_for(arranged.alice, "a \"code\"\nand more")});

    const auto text = arranged_stream::next(source);
    CHECK(text.starts_with("event: email.received\nid: "));
    CHECK(text.find("\"subject\":\"a \\\"code\\\"\\nand more\"") != std::string::npos);
    CHECK(text.find("\"sequence\":7") != std::string::npos);
    CHECK(text.find("for bob") == std::string::npos);
    CHECK(text.ends_with("}\n\n"));
}

TEST_CASE("a reader that is too slow is told to read its lists again", "[gateway][event_stream]")
{
    arranged_stream arranged;
    const auto source = arranged.open(arranged.alice);
    arranged_stream::next(source);

    for (std::size_t i = 0; i <= event_stream::max_queued; ++i)
        arranged.stream.take_events({email_for(arranged.alice, "many")});

    CHECK(arranged_stream::next(source) == "event: refetch\ndata: {}\n\n");
}

TEST_CASE("streams are counted, and their number is bounded", "[gateway][event_stream]")
{
    arranged_stream arranged;
    std::vector<std::shared_ptr<const http::body_source>> open;
    for (std::size_t i = 0; i < event_stream::max_streams_per_account; ++i)
        open.push_back(arranged.open(arranged.alice));

    const auto refused = arranged.stream.open(arranged.alice, "digest");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::rate_limited);
    CHECK(arranged.stream.open(arranged.bob, "digest"));

    open.pop_back();
    CHECK(arranged.stream.open(arranged.alice, "digest"));
    open.clear();
    CHECK(arranged.stream.streams() == 0);
}

TEST_CASE("a stream ends when nobody wants more, and with the process", "[gateway][event_stream]")
{
    arranged_stream arranged;
    const auto left = arranged.open(arranged.alice);
    const auto drained = arranged.open(arranged.bob);
    arranged_stream::next(left);
    arranged_stream::next(drained);

    left->stop();
    arranged.stream.interrupt();

    CHECK(arranged_stream::next(left).empty());
    CHECK(arranged_stream::next(drained).empty());
    CHECK(arranged.stream.open(arranged.alice, "digest").error().code == errc::unavailable);
}

TEST_CASE("a stream ends with its session, however often mail comes", "[gateway][event_stream]")
{
    arranged_stream arranged({0ms, 60'000ms});
    const auto source = arranged.open(arranged.alice);
    CHECK(arranged_stream::next(source).find("event: ready\n") != std::string::npos);

    arranged.said = sessions::ended;
    arranged.stream.take_events({email_for(arranged.alice, "a code")});

    CHECK(arranged_stream::next(source).empty());
}

TEST_CASE("a stream stands while nobody can say whether its session is open, but not for long",
          "[gateway][event_stream]")
{
    arranged_stream patient({0ms, 60'000ms});
    patient.said = sessions::unknown;
    CHECK(arranged_stream::next(patient.open(patient.alice)).find("event: ready\n") !=
          std::string::npos);

    arranged_stream strict({0ms, 0ms});
    strict.said = sessions::unknown;
    CHECK(arranged_stream::next(strict.open(strict.alice)).empty());
}

TEST_CASE("while its session is open a stream without news says that it is alive",
          "[gateway][event_stream]")
{
    arranged_stream arranged({1ms, 60'000ms});
    const auto source = arranged.open(arranged.alice);
    arranged_stream::next(source);

    CHECK(arranged_stream::next(source) == ": alive\n\n");
}

TEST_CASE("a session that ends in this process takes its own streams along at once",
          "[gateway][event_stream]")
{
    arranged_stream arranged;
    const auto ended = arranged.stream.open(arranged.alice, "one").value();
    const auto other = arranged.stream.open(arranged.alice, "two").value();
    arranged_stream::next(ended);
    arranged_stream::next(other);

    arranged.stream.end_session("one");
    CHECK(arranged_stream::next(ended).empty());
    arranged.stream.take_events({email_for(arranged.alice, "still told")});
    CHECK(arranged_stream::next(other).find("still told") != std::string::npos);
}

TEST_CASE("when all sessions of an account end its streams do, and nobody else's",
          "[gateway][event_stream]")
{
    arranged_stream arranged;
    const auto first = arranged.stream.open(arranged.alice, "one").value();
    const auto second = arranged.stream.open(arranged.alice, "two").value();
    const auto bobs = arranged.stream.open(arranged.bob, "three").value();
    for (const auto& source : {first, second, bobs})
        arranged_stream::next(source);

    arranged.stream.end_sessions_of(arranged.alice);
    arranged.stream.take_events({email_for(arranged.bob, "for bob")});

    CHECK(arranged_stream::next(first).empty());
    CHECK(arranged_stream::next(second).empty());
    CHECK(arranged_stream::next(bobs).find("for bob") != std::string::npos);
}
