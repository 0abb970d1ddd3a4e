#include "inbox/reading/email_reader.hpp"

#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace tempinbox::mailbox;

namespace {

constexpr std::size_t mib = 1024 * 1024;

// A reader on a database of its own.
struct arranged_reader
{
    seeds::world world;
    email_repository emails{world.scratch.db()};
    message_parser messages{testing::test_host(), 2};
    email_reader reader;
    plans::account_state account = seeds::account();

    explicit arranged_reader(std::size_t max_cache_bytes = 16 * mib)
        : reader(testing::test_host(), emails, messages, max_cache_bytes)
    {}

    email_id add(const mailbox::inbox& to, const std::string& raw)
    {
        const auto message = seeds::make_message({to}, raw);
        seeds::store(world.mail, {message});
        return message->deliveries.front().id;
    }

    result<read_email> read(account_id of, email_id id)
    {
        return testing::await(reader.read(of, id));
    }
};

awaitable<void> read_into(email_reader& reader, account_id account, email_id id,
                          std::map<email_id, result<read_email>>& all)
{
    auto read = co_await reader.read(account, id);
    all.emplace(id, std::move(read));
}

// How many views came from the source, in this process.
int views_from(const std::string& source)
{
    const auto series = "\ntempinbox_inbox_views_total{source=\"" + source + "\"} ";
    const auto text = testing::test_host().metrics().text();
    const auto found = text.find(series);
    return found == std::string::npos ? 0 : std::stoi(text.substr(found + series.size(), 20));
}

} // namespace

TEST_CASE("emails that are asked for together are each read or refused for themselves",
          "[inbox][read][postgres]")
{
    arranged_reader arranged;
    const auto mine = arranged.world.create(arranged.account);
    const auto stranger = seeds::account();
    const auto theirs = arranged.world.create(stranger);
    std::map<email_id, result<read_email>> all;
    std::vector<email_id> good;
    for (int i = 0; i < 30; ++i)
        good.push_back(arranged.add(mine, "Subject: s\r\n\r\ntext " + std::to_string(i)));
    const auto large = arranged.add(mine, "\r\n" + std::string(5 * mib, 'x'));
    const auto foreign = arranged.add(theirs, "\r\nsecret");
    const auto absent = email_id::make();

    auto asked = good;
    asked.insert(asked.end(), {large, foreign, absent});
    for (const auto id : asked)
        boost::asio::co_spawn(testing::test_host().loop(),
                              read_into(arranged.reader, arranged.account.account, id, all),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == asked.size(); }));

    for (std::size_t i = 0; i < good.size(); ++i) {
        const auto& read = all.at(good[i]).value();
        CHECK(read.email.summary.id == good[i]);
        CHECK(read.email.inbox_address == mine.address);
        CHECK(read.view->text == "text " + std::to_string(i));
    }
    CHECK(all.at(large).value().view->text->size() > mib);
    CHECK(all.at(foreign).error().code == errc::not_found);
    CHECK(all.at(absent).error().code == errc::not_found);
}

TEST_CASE("a view is parsed once, and not given once its inbox has ended",
          "[inbox][read][postgres]")
{
    arranged_reader arranged;
    const auto inbox = arranged.world.create(arranged.account);
    const auto id = arranged.add(inbox, "\r\nhello");
    const auto parsed = views_from("message"), cached = views_from("memory");

    CHECK(arranged.read(inbox.account, id).value().view->text == "hello");
    CHECK(arranged.read(inbox.account, id).value().view->text == "hello");
    CHECK(views_from("message") == parsed + 1);
    CHECK(views_from("memory") == cached + 1);

    testing::await(arranged.world.endings.expire(inbox.account, inbox.id)).value();
    CHECK(arranged.read(inbox.account, id).error().code == errc::not_found);
}

TEST_CASE("a large message is read once for a GET of two calls", "[inbox][read][postgres]")
{
    arranged_reader arranged;
    const auto inbox = arranged.world.create(arranged.account);
    const auto id = arranged.add(inbox, "\r\n" + std::string(600'000, 'x'));
    const auto parsed = views_from("message");
    constexpr std::size_t limit = 64 * 1024;

    const auto first = testing::await(arranged.reader.read(inbox.account, id, limit)).value();
    const auto second = testing::await(arranged.reader.read(inbox.account, id)).value();

    CHECK_FALSE(first.view);
    REQUIRE(second.view->text);
    CHECK(arranged.reader.estimate_texts(first.email.summary) > limit);
    CHECK(second.view->text->size() > limit);
    CHECK(views_from("message") == parsed + 1);
}

TEST_CASE("a message whose view is cached is read once for any limit", "[inbox][read][postgres]")
{
    arranged_reader arranged;
    const auto inbox = arranged.world.create(arranged.account);
    const auto id = arranged.add(inbox, "\r\n" + std::string(200'000, 'x'));
    const auto parsed = views_from("message");

    for (const std::size_t limit : {std::size_t{64} * 1024, std::size_t{0}})
        CHECK(testing::await(arranged.reader.read(inbox.account, id, limit)).value().view);

    CHECK(views_from("message") == parsed + 1);
}

TEST_CASE("a large attachment is described without being decoded, and its view is read once",
          "[inbox][read][postgres]")
{
    arranged_reader arranged;
    const auto inbox = arranged.world.create(arranged.account);
    const auto id = arranged.add(inbox, "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
                                        "--b\r\n\r\ntext\r\n--b\r\n"
                                        "Content-Type: image/png\r\n\r\n" +
                                            std::string(100'000, 'x') + "\r\n--b--\r\n");
    const auto parsed = views_from("message");
    const auto read = [&](const std::string& part, std::size_t limit) {
        return testing::await(arranged.reader.read_attachment(inbox.account, id, part, limit))
            .value();
    };

    const auto described = read("2", 64 * 1024);
    const auto whole = read("2", 0);

    CHECK(described->about.size == 100'000);
    CHECK_FALSE(described->content);
    CHECK(whole->content == std::string(100'000, 'x'));
    CHECK_FALSE(read("3", 0));
    CHECK(views_from("message") == parsed + 1);
}

TEST_CASE("a view that was cut short by a busy machine is not kept", "[inbox][read][postgres]")
{
    arranged_reader arranged;
    mime::view_limits hurried;
    hurried.time = std::chrono::milliseconds(-1);
    message_parser late(testing::test_host(), 1, hurried);
    email_reader reader(testing::test_host(), arranged.emails, late, 16 * mib);
    const auto inbox = arranged.world.create(arranged.account);
    const auto id = arranged.add(inbox, "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
                                        "--b\r\n\r\nhello\r\n--b--\r\n");
    const auto parsed = views_from("message");

    for (int i = 0; i < 2; ++i) {
        const auto read = testing::await(reader.read(inbox.account, id)).value();
        CHECK_THAT(read.view->defects, Catch::VectorContains(std::string("deadline")));
    }

    CHECK(views_from("message") == parsed + 2);
}

TEST_CASE("views are cached within their bound, and not at all without one",
          "[inbox][read][postgres]")
{
    const auto parsed_again = [](std::size_t max_cache_bytes) {
        arranged_reader arranged(max_cache_bytes);
        const auto inbox = arranged.world.create(arranged.account);
        std::vector<email_id> ids;
        for (int i = 0; i < 20; ++i)
            ids.push_back(arranged.add(inbox, "\r\n" + std::string(10'000, 'x')));
        for (const auto id : ids)
            CHECK(arranged.read(inbox.account, id));
        const auto before = views_from("message");
        for (const auto id : ids)
            CHECK(arranged.read(inbox.account, id));
        return views_from("message") - before;
    };

    CHECK(parsed_again(0) == 20);
    CHECK(parsed_again(180'000) == 20); // room for most: in turn, each is evicted before its time
    CHECK(parsed_again(1 * mib) == 0);
}

TEST_CASE("a message that was moved to another hour since its email was read is found",
          "[inbox][read][postgres]")
{
    arranged_reader arranged;
    const auto inbox = arranged.world.create(arranged.account);
    const auto id = arranged.add(inbox, "\r\nmoved");
    auto email = testing::await(arranged.emails.find_all({{inbox.account, id}})).front().value();
    email.body.hour += std::chrono::hours(24);

    CHECK_FALSE(testing::await(arranged.emails.read_bodies({email.body})).front());
    arranged.world.scratch.execute(
        "UPDATE mailbox.bodies SET body_hour = body_hour + interval '1 hour'");
    arranged.world.scratch.execute(
        "UPDATE mailbox.emails SET body_hour = body_hour + interval '1 hour'");
    CHECK(arranged.read(inbox.account, id).value().view->text == "moved");
}
