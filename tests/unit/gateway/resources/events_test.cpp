#include "gateway/resources/events.hpp"

#include "common/events/events.hpp"
#include "common/json/value.hpp"
#include "gateway/long_poll/feed_cursor.hpp"
#include "unit/gateway/resources/contract.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <string>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;

namespace {

namespace v1 = webhooks::v1;

using names = std::vector<std::string>;

// The operation against a dispatcher whose feed is in memory, and an inbox service.
class arranged_feed
{
public:
    arranged_feed()
    {
        dispatcher_.response<v1::OpenFeedRequest, v1::OpenFeedResponse>(
            "tempinbox.webhooks.v1.EventService/OpenFeed",
            [this](const v1::OpenFeedRequest& request) {
                CHECK(request.account().account_id() == who.account().text());
                v1::OpenFeedResponse response;
                response.set_epoch(1);
                response.set_earliest(earliest);
                response.set_latest(latest());
                return response;
            });
        dispatcher_.response<v1::ReadEventsRequest, v1::ReadEventsResponse>(
            "tempinbox.webhooks.v1.EventService/ReadEvents",
            [this](const v1::ReadEventsRequest& request) {
                requests.push_back(request);
                return read(request);
            });
        dispatcher_.response<v1::FindPositionRequest, v1::FindPositionResponse>(
            "tempinbox.webhooks.v1.EventService/FindPosition",
            [this](const v1::FindPositionRequest& request) -> result<v1::FindPositionResponse> {
                v1::FindPositionResponse response;
                response.set_epoch(1);
                if (request.of_case() == v1::FindPositionRequest::kSince) {
                    response.set_position(2);
                    return response;
                }
                for (const auto& event : events)
                    if (event.event_id() == request.event_id()) {
                        response.set_position(event.position());
                        response.set_inbox_id(event.inbox_id());
                        return response;
                    }
                return failure{errc::not_found, "no such event"};
            });
        dispatcher_.response<v1::GetPositionsRequest, v1::GetPositionsResponse>(
            "tempinbox.webhooks.v1.EventService/GetPositions",
            [this](const v1::GetPositionsRequest& request) {
                CHECK(request.account_ids_size() == 1);
                v1::GetPositionsResponse response;
                *response.add_positions() = end();
                return response;
            });
        inbox_service_.response<inbox::v1::CheckTagRequest, inbox::v1::CheckTagResponse>(
            "tempinbox.inbox.v1.InboxService/CheckTag",
            [this](
                const inbox::v1::CheckTagRequest& request) -> result<inbox::v1::CheckTagResponse> {
                if (request.tagged_account().tag() == "ours" && request.inbox_id() == tagged)
                    return inbox::v1::CheckTagResponse();
                return failure{errc::not_found, "Inbox does not exist"};
            });
        inbox_service_.response<inbox::v1::GetInboxRequest, inbox::v1::GetInboxResponse>(
            "tempinbox.inbox.v1.InboxService/GetInbox",
            [this](
                const inbox::v1::GetInboxRequest& request) -> result<inbox::v1::GetInboxResponse> {
                if (request.inbox_id() == tagged || request.inbox_id() == untagged)
                    return inbox::v1::GetInboxResponse();
                return failure{errc::not_found, "Inbox does not exist"};
            });
        inboxes_ = std::make_unique<inbox_client>(testing::test_host(), inbox_service_.start(),
                                                  inbox_service_.tokens());
        webhooks_ = std::make_unique<webhook_client>(testing::test_host(), dispatcher_.start(),
                                                     dispatcher_.tokens());
        long_poll_limits limits(100);
        limits.of_account = 2;
        polls_ = std::make_unique<long_poll_hub>(testing::test_host(), *inboxes_, memory_, limits);
        feeds = std::make_unique<feed_hub>(testing::test_host(), *webhooks_);
    }

    void add(const std::string& type, const std::string& inbox)
    {
        v1::FeedEvent event;
        event.set_position(latest() + 1);
        event.set_event_id(event_id::make().text());
        event.set_inbox_id(inbox);
        event.set_type(type);
        event.set_payload(R"({"event":")" + type + R"(","data":{}})");
        events.push_back(event);
    }
    std::int64_t latest() const { return earliest + static_cast<std::int64_t>(events.size()); }
    v1::FeedPosition end() const
    {
        v1::FeedPosition made;
        made.set_account_id(who.account().text());
        made.set_epoch(1);
        made.set_position(latest());
        return made;
    }
    std::string cursor(std::int64_t position, int epoch = 1) const
    {
        return make_feed_cursor(who.account(), {epoch, position});
    }

    http::request request(const std::vector<std::pair<std::string, std::string>>& query) const
    {
        http::request received;
        received.method = "GET";
        received.query = query;
        return received;
    }
    feed_services services() { return {*inboxes_, *webhooks_, *feeds, *polls_, memory_}; }
    http::response get(const std::vector<std::pair<std::string, std::string>>& query)
    {
        auto received = request(query);
        return testing::await(list_events(received, who, services()));
    }
    json::value json(const std::vector<std::pair<std::string, std::string>>& query)
    {
        const auto response = get(query);
        INFO(response.body);
        REQUIRE(response.status == 200);
        return json::value::parse(response.body).value();
    }
    names ids(const std::vector<std::pair<std::string, std::string>>& query)
    {
        names found;
        for (const auto& event : json(query)["events"].items())
            found.push_back(event["eventId"].text());
        return found;
    }
    std::size_t waiters() const { return polls_->waiters(); }

    caller who = testing::premium_caller();
    std::int64_t earliest = 0;
    std::vector<v1::FeedEvent> events;
    std::vector<v1::ReadEventsRequest> requests;
    std::optional<v1::ReadEventsResponse> lost;
    const std::string tagged = inbox_id::make().text(), untagged = inbox_id::make().text();
    std::unique_ptr<feed_hub> feeds;

private:
    v1::ReadEventsResponse read(const v1::ReadEventsRequest& request)
    {
        if (lost)
            return *lost;
        v1::ReadEventsResponse response;
        response.set_outcome(v1::FEED_OUTCOME_READ);
        response.set_epoch(1);
        response.set_latest(latest());
        response.set_position(request.position());
        for (const auto& event : events) {
            if (event.position() <= request.position())
                continue;
            const auto& types = request.types();
            const bool fits =
                (types.empty() ||
                 std::find(types.begin(), types.end(), event.type()) != types.end()) &&
                (request.inbox_id().empty() || request.inbox_id() == event.inbox_id());
            if (fits && response.events_size() == request.limit())
                break;
            if (fits)
                *response.add_events() = event;
            response.set_position(event.position());
        }
        return response;
    }

    testing::fake_service inbox_service_;
    testing::fake_service dispatcher_;
    std::unique_ptr<inbox_client> inboxes_;
    std::unique_ptr<webhook_client> webhooks_;
    response_budget memory_{10'000'000};
    std::unique_ptr<long_poll_hub> polls_;
};

std::string header_of(const http::response& response, std::string_view name)
{
    return std::string(http::find_header(response.headers, name).value_or("none"));
}

} // namespace

TEST_CASE("the first reading of a feed has no events but the place", "[gateway][feed]")
{
    arranged_feed feed;
    feed.earliest = 4;
    feed.add("email.received", feed.tagged);

    const auto first = feed.json({});

    CHECK(first["events"].size() == 0);
    CHECK(first["nextCursor"].text() == feed.cursor(5));
    CHECK_FALSE(first["hasMore"].boolean());
    CHECK(testing::names_of(first) == testing::required_of(testing::schema_of("EventList")));
    CHECK(feed.json({{"after", "earliest"}})["events"].size() == 1);
}

TEST_CASE("events have their cursors, and pages go on behind them", "[gateway][feed]")
{
    arranged_feed feed;
    for (int i = 0; i < 3; ++i)
        feed.add("email.received", feed.tagged);

    const auto page = feed.json({{"after", feed.cursor(0)}, {"limit", "2"}});

    REQUIRE(page["events"].size() == 2);
    const auto first = page["events"].items()[0];
    CHECK(first["eventId"].text() == feed.events[0].event_id());
    CHECK(first["cursor"].text() == feed.cursor(1));
    CHECK(first["payload"]["event"].text() == "email.received");
    CHECK(testing::names_of(first) == testing::required_of(testing::schema_of("FeedEvent")));
    CHECK(page["nextCursor"].text() == feed.cursor(2));
    CHECK(page["hasMore"].boolean());
    const auto rest = feed.json({{"after", page["nextCursor"].text()}});
    CHECK(rest["events"].size() == 1);
    CHECK_FALSE(rest["hasMore"].boolean());
}

TEST_CASE("a place is a cursor, an event or a time", "[gateway][feed]")
{
    arranged_feed feed;
    for (int i = 0; i < 3; ++i)
        feed.add("email.received", feed.tagged);

    CHECK(feed.ids({{"after", feed.events[0].event_id()}}) ==
          names{feed.events[1].event_id(), feed.events[2].event_id()});
    CHECK(feed.ids({{"since", "2026-11-21T11:50:00Z"}}) == names{feed.events[2].event_id()});
    for (const auto& wrong : names{event_id::make().text(), "x", feed.cursor(1) + "A",
                                   make_feed_cursor(account_id::make(), {1, 1})}) {
        const auto refused = feed.get({{"after", wrong}});
        CHECK(refused.status == 400);
        CHECK(header_of(refused, "X-Error-Code") == "invalid_cursor");
    }
    for (const auto* wrong : {"2026-11-18T11:59:59Z", "2026-11-21T12:00:01Z", "yesterday"})
        CHECK(feed.get({{"since", wrong}}).status == 400);
    CHECK(feed.get({{"since", "2026-11-21T11:50:00Z"}, {"after", "latest"}}).status == 400);
}

TEST_CASE("parameters out of their bounds are refused", "[gateway][feed]")
{
    arranged_feed feed;
    for (const auto& wrong :
         std::vector<std::pair<std::string, std::string>>{{"limit", "0"},
                                                          {"limit", "501"},
                                                          {"waitSeconds", "61"},
                                                          {"waitSeconds", "-1"},
                                                          {"types", ""},
                                                          {"types", "email.sent"},
                                                          {"tag", ""},
                                                          {"tag", std::string(51, 'x')},
                                                          {"after", ""},
                                                          {"after", std::string(65, 'x')},
                                                          {"inboxId", "x"},
                                                          {"cursor", "x"}}) {
        INFO(wrong.first << "=" << wrong.second);
        CHECK(feed.get({wrong}).status == 400);
    }
    CHECK(feed.requests.empty());
}

TEST_CASE("types are those that the key may see", "[gateway][feed]")
{
    arranged_feed feed;
    feed.add("email.received", feed.tagged);
    feed.add("inbox.expired", feed.tagged);

    CHECK(feed.ids({{"after", "earliest"}, {"types", "inbox.expired"}}) ==
          names{feed.events[1].event_id()});
    CHECK(feed.json({{"after", "earliest"}, {"types", "inbox.created"}})["nextCursor"].text() ==
          feed.cursor(2));
    feed.who.access.scopes = accounts::scope_set();
    feed.who.access.scopes->add(accounts::scope::emails_read);
    CHECK(feed.ids({{"after", "earliest"}}) == names{feed.events[0].event_id()});
    const auto refused = feed.get({{"types", "email.received,inbox.created"}});
    CHECK(refused.status == 403);
    CHECK(header_of(refused, "X-Error-Code") == "scope_required");
    feed.who.access.scopes = accounts::scope_set();
    feed.who.access.scopes->add(accounts::scope::account_read);
    CHECK(feed.get({}).status == 403);
}

TEST_CASE("an inbox is a filter, and one that is not the caller's does not exist",
          "[gateway][feed]")
{
    arranged_feed feed;
    feed.add("email.received", feed.untagged);
    feed.add("email.received", feed.tagged);

    CHECK(feed.ids({{"after", "earliest"}, {"inboxId", feed.tagged}}) ==
          names{feed.events[1].event_id()});
    CHECK(feed.get({{"inboxId", inbox_id::make().text()}}).status == 404);
    CHECK(feed.ids({{"after", "earliest"}, {"inboxId", feed.tagged}, {"tag", "ours"}}) ==
          names{feed.events[1].event_id()});
    CHECK(feed.ids({{"after", "earliest"}, {"inboxId", feed.untagged}, {"tag", "ours"}}).empty());

    feed.who.access.tag = "ours";
    CHECK(feed.get({{"inboxId", feed.untagged}}).status == 404);
    CHECK(feed.ids({{"after", "earliest"}, {"inboxId", feed.tagged}, {"tag", "theirs"}}).empty());
}

TEST_CASE("a tag leaves out the others' events, and a key's tag cannot be left away",
          "[gateway][feed]")
{
    arranged_feed feed;
    feed.add("email.received", feed.tagged);
    for (int i = 0; i < 150; ++i)
        feed.add("email.received", feed.untagged);
    feed.add("inbox.expired", feed.tagged);
    feed.add("inbox.created", feed.tagged);
    const names ours{feed.events[0].event_id(), feed.events[151].event_id()};

    const auto page = feed.json({{"after", "earliest"}, {"tag", "ours"}, {"limit", "2"}});
    CHECK(page["events"].items()[1]["eventId"].text() == ours[1]);
    CHECK(page["nextCursor"].text() == feed.cursor(152));
    CHECK(page["hasMore"].boolean());

    feed.who.access.tag = "ours";
    CHECK(feed.ids({{"after", "earliest"}, {"limit", "2"}}) == ours);
    CHECK(feed.ids({{"after", "earliest"}, {"tag", "theirs"}}).empty());
    CHECK(feed.get({{"after", feed.events[5].event_id()}}).status == 400);
    CHECK(feed.ids({{"after", feed.events[0].event_id()}}).size() == 2);
}

TEST_CASE("what is gone and what was put back are named errors", "[gateway][feed]")
{
    arranged_feed feed;
    feed.lost.emplace();
    feed.lost->set_epoch(2);
    feed.lost->set_outcome(v1::FEED_OUTCOME_EXPIRED);
    feed.lost->set_missed(7);
    feed.lost->set_resume_position(12);
    const std::vector<std::pair<std::string, std::string>> query{{"after", feed.cursor(5)}};

    const auto expired = feed.get(query);
    CHECK(expired.status == 410);
    CHECK(header_of(expired, "X-Error-Code") == "cursor_expired");
    CHECK(header_of(expired, "X-Missed-Events") == "7");
    CHECK(header_of(expired, "X-Resume-After") == feed.cursor(12, 2));
    CHECK(json::value::parse(expired.body).value().size() == 3);
    feed.who.access.tag = "ours";
    const auto of_tag = feed.get(query);
    CHECK(header_of(of_tag, "X-Missed-Events") == "none");
    CHECK(of_tag.body.find("7 positions") == std::string::npos);

    feed.lost->set_outcome(v1::FEED_OUTCOME_RESET);
    const auto reset = feed.get(query);
    CHECK(reset.status == 410);
    CHECK(header_of(reset, "X-Error-Code") == "cursor_reset");
    CHECK(header_of(reset, "X-Resume-After") == feed.cursor(12, 2));
}

namespace {

// A request that waits beside the test.
struct waiting_request
{
    waiting_request(arranged_feed& feed, std::vector<std::pair<std::string, std::string>> query)
        : received(feed.request(std::move(query)))
    {
        boost::asio::co_spawn(testing::test_host().executor(), run(*this, feed),
                              boost::asio::detached);
    }

    static awaitable<void> run(waiting_request& self, arranged_feed& feed)
    {
        self.response = co_await list_events(self.received, feed.who, feed.services());
    }
    bool is_answered() const { return response.has_value(); }

    http::request received;
    std::optional<http::response> response;
};

void publish(arranged_feed& feed)
{
    const auto sent = events::make_activity(feed.end());
    kafka::record record;
    record.topic = sent.topic;
    record.key = sent.key;
    record.value = sent.value;
    feed.feeds->take_events({record});
}

} // namespace

TEST_CASE("a reader that waits is woken by a hint", "[gateway][feed]")
{
    arranged_feed feed;
    waiting_request waiting(feed, {{"waitSeconds", "30"}});
    REQUIRE(testing::eventually([&] { return feed.requests.size() == 1; }));
    CHECK(feed.waiters() == 1);

    feed.add("email.received", feed.tagged);
    publish(feed);

    REQUIRE(testing::eventually([&] { return waiting.is_answered(); }));
    CHECK(json::value::parse(waiting.response->body).value()["events"].size() == 1);
    CHECK(feed.waiters() == 0);
    CHECK(feed.feeds->readers() == 0);
}

TEST_CASE("a lost hint costs a second", "[gateway][feed]")
{
    arranged_feed feed;
    feed.feeds->start();
    waiting_request waiting(feed, {{"waitSeconds", "30"}});
    REQUIRE(testing::eventually([&] { return feed.requests.size() == 1; }));

    feed.add("email.received", feed.tagged);

    REQUIRE(testing::eventually([&] { return waiting.is_answered(); }, 5s));
    testing::await(feed.feeds->stop());
}

TEST_CASE("a reader waits on behind what its filters leave out", "[gateway][feed]")
{
    arranged_feed feed;
    waiting_request waiting(feed, {{"waitSeconds", "30"}, {"types", "inbox.expired"}});
    REQUIRE(testing::eventually([&] { return feed.requests.size() == 1; }));

    feed.add("email.received", feed.tagged);
    publish(feed);
    REQUIRE(testing::eventually([&] { return feed.requests.size() == 2; }));
    CHECK_FALSE(waiting.is_answered());
    feed.add("inbox.expired", feed.tagged);
    publish(feed);

    REQUIRE(testing::eventually([&] { return waiting.is_answered(); }));
    CHECK(feed.requests.back().position() == 1);
}

TEST_CASE("a wait ends with the place when its time is over, the client hangs up, or the process "
          "ends",
          "[gateway][feed]")
{
    arranged_feed feed;
    waiting_request timed(feed, {{"waitSeconds", "1"}});
    waiting_request hung_up(feed, {{"waitSeconds", "60"}});
    REQUIRE(testing::eventually([&] { return feed.feeds->readers() == 2; }));
    waiting_request refused(feed, {{"waitSeconds", "60"}});
    REQUIRE(testing::eventually([&] { return refused.is_answered(); }));
    CHECK(refused.response->status == 429);
    CHECK(header_of(*refused.response, "X-Error-Code") == "wait_limit");
    CHECK(header_of(*refused.response, "Retry-After") == "1");

    REQUIRE(testing::eventually([&] { return timed.is_answered(); }));
    CHECK(timed.response->status == 200);
    REQUIRE(testing::eventually([&] { return bool(hung_up.received.on_hang_up); }));
    hung_up.received.on_hang_up();
    REQUIRE(testing::eventually([&] { return hung_up.is_answered(); }));

    waiting_request drained(feed, {{"waitSeconds", "60"}});
    REQUIRE(testing::eventually([&] { return feed.feeds->readers() == 1; }));
    feed.feeds->interrupt();
    REQUIRE(testing::eventually([&] { return drained.is_answered(); }));
    CHECK(drained.response->status == 200);
    CHECK(feed.waiters() == 0);
}

TEST_CASE("readers at one place share a reading", "[gateway][feed]")
{
    arranged_feed feed;
    waiting_request first(feed, {{"waitSeconds", "30"}});
    waiting_request second(feed, {{"waitSeconds", "30"}});
    REQUIRE(testing::eventually([&] { return feed.feeds->readers() == 2; }));
    REQUIRE(testing::eventually([&] { return !feed.requests.empty(); }));
    const auto before = feed.requests.size();

    feed.add("email.received", feed.tagged);
    publish(feed);

    REQUIRE(testing::eventually([&] { return first.is_answered() && second.is_answered(); }));
    CHECK(feed.requests.size() == before + 1);
    CHECK(first.response->body == second.response->body);
}

namespace {

// A stream as its connection reads it.
struct open_stream
{
    open_stream(arranged_feed& feed, std::vector<std::pair<std::string, std::string>> query,
                const std::string& last_id = "")
        : received(feed.request(std::move(query)))
    {
        received.headers.emplace_back("Accept", "text/event-stream");
        if (!last_id.empty())
            received.headers.emplace_back("Last-Event-ID", last_id);
        response = testing::await(list_events(received, feed.who, feed.services()));
    }

    std::string next(std::chrono::milliseconds deadline = 20s)
    {
        return testing::await(response.source->next(), deadline);
    }

    http::request received;
    http::response response;
};

awaitable<bool> now(const bool& is_good)
{
    co_return is_good;
}

std::string frame_of(const arranged_feed& feed, std::size_t index)
{
    const auto& event = feed.events[index];
    return "id: " + feed.cursor(event.position()) + "\nevent: " + event.type() +
           "\ndata: {\"eventId\":\"" + event.event_id() + "\",\"payload\":" + event.payload() +
           "}\n\n";
}

} // namespace

TEST_CASE("a stream begins with its place, and goes on behind the id that was seen last",
          "[gateway][feed]")
{
    arranged_feed feed;
    for (int i = 0; i < 3; ++i)
        feed.add("email.received", feed.tagged);

    open_stream first(feed, {{"after", "earliest"}});
    CHECK(first.response.status == 200);
    CHECK(header_of(first.response, "Content-Type") == "text/event-stream");
    CHECK(header_of(first.response, "X-Accel-Buffering") == "no");
    CHECK(first.next() == "retry: 2000\nid: " + feed.cursor(0) + "\n\n");
    CHECK(first.next() == frame_of(feed, 0) + frame_of(feed, 1) + frame_of(feed, 2));

    open_stream again(feed, {{"after", "earliest"}}, feed.cursor(1));
    CHECK(again.next() == "retry: 2000\nid: " + feed.cursor(1) + "\n\n");
    CHECK(again.next() == frame_of(feed, 1) + frame_of(feed, 2));
    CHECK(feed.waiters() == 2);
}

TEST_CASE("what a stream cannot have is refused before it begins", "[gateway][feed]")
{
    arranged_feed feed;
    for (const auto& wrong : std::vector<std::pair<std::string, std::string>>{
             {"limit", "5"}, {"waitSeconds", "5"}, {"types", "x"}})
        CHECK(open_stream(feed, {wrong}).response.status == 400);
    for (const auto& wrong : {std::string("x"), std::string(65, 'A'), feed.cursor(1) + "A"}) {
        open_stream refused(feed, {}, wrong);
        CHECK(refused.response.status == 400);
        CHECK(header_of(refused.response, "X-Error-Code") == "invalid_cursor");
    }
    feed.lost.emplace();
    feed.lost->set_outcome(v1::FEED_OUTCOME_EXPIRED);
    CHECK(open_stream(feed, {{"after", feed.cursor(1)}}).response.status == 410);
    // Of a request for JSON the header means nothing.
    feed.lost.reset();
    auto received = feed.request({});
    received.headers.emplace_back("Last-Event-ID", "x");
    CHECK(testing::await(list_events(received, feed.who, feed.services())).status == 200);
    CHECK(feed.waiters() == 0);
}

TEST_CASE("a stream is woken by hints, and says what it lost", "[gateway][feed]")
{
    arranged_feed feed;
    open_stream open(feed, {});
    open.next();
    boost::asio::post(testing::test_host().executor(), [&] {
        feed.add("inbox.created", feed.tagged);
        publish(feed);
    });
    CHECK(open.next() == frame_of(feed, 0));

    feed.lost.emplace();
    feed.lost->set_epoch(1);
    feed.lost->set_outcome(v1::FEED_OUTCOME_EXPIRED);
    feed.lost->set_missed(3);
    feed.lost->set_resume_position(9);
    feed.add("inbox.created", feed.tagged);
    publish(feed);
    const auto error = open.next();
    CHECK(error.starts_with("event: error\ndata: {\"code\":\"cursor_expired\",\"resumeAfter\":\"" +
                            feed.cursor(9) + "\",\"missed\":3,\"message\":"));
    CHECK(open.next().empty());
}

TEST_CASE("a stream ends with its key, with its client and with the process", "[gateway][feed]")
{
    arranged_feed feed;
    bool is_good = true;
    feed.who.is_still_good = [&is_good] { return now(is_good); };
    open_stream of_key(feed, {});
    of_key.next();
    is_good = false;
    const auto began = std::chrono::steady_clock::now();
    CHECK(of_key.next(3s).empty());
    CHECK(std::chrono::steady_clock::now() - began < 1s);

    is_good = true;
    open_stream of_client(feed, {});
    of_client.next();
    of_client.response.source->stop();
    CHECK(of_client.next(1s).empty());
    of_client.response.source.reset();
    of_key.response.source.reset();
    CHECK(feed.waiters() == 0);

    open_stream of_process(feed, {});
    of_process.next();
    feed.feeds->interrupt();
    CHECK(of_process.next(1s).empty());
}
