#include "webhook-dispatcher/delivery/engine.hpp"

#include "common/testing/await.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using namespace std::chrono_literals;
using testing::eventually;
using testing::test_host;

namespace {

using state = delivery_outcome::state;

// An engine whose requests wait until the test responds to them.
struct bench
{
    explicit bench(engine_limits limits = {})
        : engine(
              test_host(), [this](delivery_job job) { return send(std::move(job)); },
              [this](delivery_outcome outcome) { outcomes.push_back(std::move(outcome)); }, limits)
    {}
    ~bench()
    {
        respond_all(200);
        testing::await(engine.drain(5s));
    }
    bench(const bench&) = delete;

    awaitable<sent_request> send(delivery_job job)
    {
        sent.push_back(job.event->id);
        while (status == 0 && responses_left == 0) {
            boost::asio::steady_timer delay(test_host().executor(), 1ms);
            co_await delay.async_wait(boost::asio::use_awaitable);
        }
        if (status == 0)
            --responses_left;
        sent_request reply;
        reply.result.status = status == 0 ? 200 : status;
        reply.at = test_host().clock().now();
        co_return reply;
    }

    // Responds to every request from now on with this status; 0 withholds responses again.
    void respond_all(unsigned with) { status = with; }
    // Responds to that many requests with 200.
    void respond_some(int count) { responses_left += count; }

    delivery_job job(webhook_id webhook, int attempts_made = 0,
                     std::chrono::milliseconds lease = lease_time)
    {
        auto to = std::make_shared<receiver>();
        to->id = webhook;
        auto event = std::make_shared<outgoing_event>();
        event->id = event_id::make();
        delivery_job made;
        made.event = event;
        made.to = to;
        made.attempts_made = attempts_made;
        made.lease = uuid::make_v7();
        made.lease_end = std::chrono::steady_clock::now() + lease;
        made.began = test_host().clock().now();
        return made;
    }
    delivery_job job_of(account_id account)
    {
        auto to = std::make_shared<receiver>();
        to->account = account;
        to->id = webhook_id::make();
        auto made = job(to->id);
        made.to = to;
        return made;
    }
    // False: there was no capacity.
    bool submit(delivery_job made)
    {
        if (!engine.reserve(made.to->id, made.queue()))
            return false;
        engine.submit(std::move(made));
        return true;
    }
    bool has_sent(std::size_t count)
    {
        return eventually([&] { return sent.size() == count; });
    }

    unsigned status = 0;
    int responses_left = 0;
    std::vector<event_id> sent;
    std::vector<delivery_outcome> outcomes;
    delivery_engine engine;
};

} // namespace

TEST_CASE("an endpoint gets six first attempts and two retries at a time, and as many wait",
          "[webhooks][engine]")
{
    bench b;
    const auto webhook = webhook_id::make();

    for (int i = 0; i < 12; ++i)
        CHECK(b.submit(b.job(webhook)));
    for (int i = 0; i < 4; ++i)
        CHECK(b.submit(b.job(webhook, 1)));

    CHECK_FALSE(b.submit(b.job(webhook)));
    CHECK_FALSE(b.submit(b.job(webhook, 1)));
    CHECK(b.has_sent(8));
    CHECK(b.engine.in_flight() == 8);
    CHECK(b.engine.held() == 16);
}

TEST_CASE("the first attempt of a replayed delivery takes a slot for retries", "[webhooks][engine]")
{
    bench b;
    const auto webhook = webhook_id::make();
    const auto replayed = [&] {
        auto job = b.job(webhook);
        job.is_replayed = true;
        return job;
    };
    for (int i = 0; i < 4; ++i)
        CHECK(b.submit(replayed()));

    CHECK_FALSE(b.submit(replayed()));
    CHECK(b.has_sent(2));
    for (int i = 0; i < 12; ++i)
        CHECK(b.submit(b.job(webhook)));
    CHECK(b.has_sent(8));

    b.respond_all(200);
    REQUIRE(eventually([&] { return b.outcomes.size() == 16; }));
    CHECK(b.engine.held() == 0);
}

TEST_CASE("an endpoint that does not answer leaves the others alone", "[webhooks][engine]")
{
    bench b;
    const auto hanging = webhook_id::make();
    for (int i = 0; i < 12; ++i)
        b.submit(b.job(hanging));
    REQUIRE(b.has_sent(6));

    const auto healthy = b.job(webhook_id::make());
    CHECK(b.submit(healthy));

    CHECK(b.has_sent(7));
    CHECK(b.sent.back() == healthy.event->id);
}

TEST_CASE("what waits is sent as slots become free", "[webhooks][engine]")
{
    bench b;
    const auto webhook = webhook_id::make();
    for (int i = 0; i < 12; ++i)
        b.submit(b.job(webhook));

    b.respond_all(200);

    CHECK(b.has_sent(12));
    CHECK(eventually([&] { return b.outcomes.size() == 12; }));
    CHECK(b.outcomes.front().next == state::succeeded);
    CHECK(b.outcomes.front().attempts == 1);
    CHECK(b.outcomes.front().has_attempt);
    CHECK(b.engine.held() == 0);
}

TEST_CASE("the limit on requests holds over all endpoints", "[webhooks][engine]")
{
    engine_limits limits;
    limits.in_flight = 3;
    bench b(limits);
    for (int i = 0; i < 5; ++i)
        CHECK(b.submit(b.job(webhook_id::make())));
    REQUIRE(b.has_sent(3));

    b.respond_all(200);

    CHECK(b.has_sent(5));
}

TEST_CASE("at the limit on requests endpoints take turns, so one with much to send starves nobody",
          "[webhooks][engine]")
{
    engine_limits limits;
    limits.in_flight = 8;
    bench b(limits);
    std::vector<webhook_id> busy;
    for (int i = 0; i < 5; ++i)
        busy.push_back(webhook_id::make());
    // Twenty deliveries that take all capacity for as long as they last.
    for (int i = 0; i < 20; ++i)
        CHECK(b.submit(b.job(busy[static_cast<std::size_t>(i % 5)])));
    REQUIRE(b.has_sent(8));
    const auto healthy = b.job(webhook_id::make());
    CHECK(b.submit(healthy));

    b.respond_some(8);

    CHECK(eventually(
        [&] { return std::count(b.sent.begin(), b.sent.end(), healthy.event->id) == 1; }));
    CHECK(b.sent.size() <= 16);
}

TEST_CASE("no account can take all requests: another's are sent beside it", "[webhooks][engine]")
{
    engine_limits limits;
    limits.in_flight = 8;
    limits.in_flight_of_account = 2;
    bench b(limits);
    const auto greedy = account_id::make();
    for (int i = 0; i < 5; ++i)
        CHECK(b.submit(b.job_of(greedy)));

    CHECK(b.submit(b.job_of(account_id::make())));

    CHECK(b.has_sent(3));
    b.respond_all(200);
    CHECK(b.has_sent(6));
}

TEST_CASE("what waits for its turn is given back before its lease ends", "[webhooks][engine]")
{
    engine_limits limits;
    limits.in_flight = 1;
    bench b(limits);
    CHECK(b.submit(b.job(webhook_id::make())));
    REQUIRE(b.has_sent(1));

    CHECK(b.submit(b.job(webhook_id::make(), 2, min_lease_to_send + 100ms)));

    REQUIRE(eventually([&] { return b.outcomes.size() == 1; }));
    CHECK(b.sent.size() == 1);
    CHECK(b.outcomes[0].next == state::waiting);
    CHECK(b.outcomes[0].attempts == 2);
    CHECK_FALSE(b.outcomes[0].has_attempt);
    CHECK(b.engine.held() == 1);
}

TEST_CASE("the limit on what is held refuses more", "[webhooks][engine]")
{
    engine_limits limits;
    limits.held = 2;
    bench b(limits);

    CHECK(b.submit(b.job(webhook_id::make())));
    CHECK(b.submit(b.job(webhook_id::make())));
    CHECK_FALSE(b.submit(b.job(webhook_id::make())));

    b.respond_all(200);
    testing::await(b.engine.wait_for_room());
    CHECK(b.submit(b.job(webhook_id::make())));
}

TEST_CASE("with less than 20 s of its lease left nothing is sent", "[webhooks][engine]")
{
    bench b;

    b.submit(b.job(webhook_id::make(), 3, 19s));

    REQUIRE(eventually([&] { return b.outcomes.size() == 1; }));
    CHECK(b.sent.empty());
    CHECK(b.outcomes[0].next == state::waiting);
    CHECK(b.outcomes[0].attempts == 3);
    CHECK(b.outcomes[0].wait == 0ms);
    CHECK_FALSE(b.outcomes[0].has_attempt);
    CHECK(b.engine.held() == 0);
}

TEST_CASE("an open breaker gives back what waits and takes nothing new", "[webhooks][engine]")
{
    bench b;
    const auto webhook = webhook_id::make();
    for (int i = 0; i < 12; ++i)
        b.submit(b.job(webhook));
    REQUIRE(b.has_sent(6));

    b.respond_all(500);

    REQUIRE(eventually([&] { return b.outcomes.size() == 12; }));
    const auto parked = std::count_if(b.outcomes.begin(), b.outcomes.end(),
                                      [](const auto& outcome) { return !outcome.has_attempt; });
    CHECK(b.sent.size() + static_cast<std::size_t>(parked) == 12);
    CHECK(parked > 0);
    CHECK(b.outcomes.back().attempts == (b.outcomes.back().has_attempt ? 1 : 0));
    CHECK_FALSE(b.submit(b.job(webhook)));
    CHECK(b.engine.closed_for(webhook) > 25s);
    CHECK(b.engine.closed_for(webhook_id::make()) == 0ms);
}

TEST_CASE("an endpoint whose breaker opened is reported, and one that gets nothing any more has "
          "its whole window",
          "[webhooks][engine]")
{
    bench b;
    const due_queue queue{account_id::make(), webhook_id::make(), queue_kind::first};
    CHECK(b.engine.tripped().empty());
    b.respond_all(500);
    for (int i = 0; i < 12; ++i)
        b.submit(b.job(queue.webhook));
    REQUIRE(eventually([&] { return b.outcomes.size() == 12; }));
    CHECK(b.engine.tripped() == std::vector{queue.webhook});
    b.engine.note_backlog(queue);
    CHECK(b.engine.take_claim_requests().empty());

    b.engine.reset_breaker(queue.webhook);

    CHECK(b.engine.tripped().empty());
    CHECK(b.engine.take_claim_requests().at(0).capacity == 12);
    for (int i = 0; i < 12; ++i)
        b.engine.release(queue.webhook, queue.queue);
}

TEST_CASE("a failure says when it is due again, and a final one ends it", "[webhooks][engine]")
{
    bench b;
    b.respond_all(500);
    b.submit(b.job(webhook_id::make()));
    b.submit(b.job(webhook_id::make(), 9));

    REQUIRE(eventually([&] { return b.outcomes.size() == 2; }));
    CHECK(b.outcomes[0].next == state::waiting);
    CHECK(b.outcomes[0].wait >= 4s);
    CHECK(b.outcomes[0].wait <= 6s);
    CHECK(b.outcomes[1].next == state::exhausted);
    CHECK(b.outcomes[1].attempts == 10);
}

TEST_CASE("claim requests ask for free capacity of queues with backlog only", "[webhooks][engine]")
{
    bench b;
    const due_queue queue{account_id::make(), webhook_id::make(), queue_kind::first};
    int notified = 0;
    b.engine.on_claim_request([&] { ++notified; });
    CHECK(b.engine.take_claim_requests().empty());

    b.engine.note_backlog(queue);
    CHECK(notified == 1);
    const auto requests = b.engine.take_claim_requests();

    REQUIRE(requests.size() == 1);
    CHECK(requests[0].capacity == 12);
    CHECK(b.engine.held() == 12);
    // The capacity stays taken until it is released.
    CHECK(b.engine.take_claim_requests().empty());
    for (int i = 0; i < 12; ++i)
        b.engine.release(queue.webhook, queue.queue);
    CHECK(b.engine.take_claim_requests().size() == 1);
}

TEST_CASE("backlog noted while a claim was under way is not lost", "[webhooks][engine]")
{
    bench b;
    const due_queue queue{account_id::make(), webhook_id::make(), queue_kind::first};
    b.engine.note_backlog(queue);
    auto request = b.engine.take_claim_requests().at(0);
    for (std::size_t i = 0; i < request.capacity; ++i)
        b.engine.release(queue.webhook, queue.queue);

    b.engine.note_backlog(queue);
    b.engine.clear_backlog(request);
    request = b.engine.take_claim_requests().at(0);
    for (std::size_t i = 0; i < request.capacity; ++i)
        b.engine.release(queue.webhook, queue.queue);
    b.engine.clear_backlog(request);

    CHECK(b.engine.take_claim_requests().empty());
}

TEST_CASE("draining gives back what waits and finishes what is under way", "[webhooks][engine]")
{
    bench b;
    const auto webhook = webhook_id::make();
    for (int i = 0; i < 12; ++i)
        b.submit(b.job(webhook));
    REQUIRE(b.has_sent(6));
    b.respond_all(200);

    testing::await(b.engine.drain(5s));

    CHECK(b.sent.size() == 6);
    CHECK(b.outcomes.size() == 12);
    CHECK(b.engine.held() == 0);
    CHECK_FALSE(b.engine.reserve(webhook, queue_kind::first));
}

TEST_CASE("an engine that ends when its watch of leases is due is left alone by it",
          "[webhooks][engine]")
{
    // The loop polls its timers before the first or before the second of its next handlers.
    const bool ends_second = GENERATE(false, true);
    engine_limits limits;
    limits.in_flight = 0;
    bench b;
    int given_back = 0;
    auto engine = std::make_unique<delivery_engine>(
        test_host(), [&](delivery_job job) { return b.send(std::move(job)); },
        [&](const delivery_outcome&) { ++given_back; }, limits);
    const auto webhook = webhook_id::make();
    REQUIRE(engine->reserve(webhook, queue_kind::first));
    engine->submit(b.job(webhook));

    // Nothing runs the loop meanwhile, so that the watch is due at its next turn.
    boost::asio::steady_timer(test_host().executor(), 1'050ms).wait();
    boost::asio::post(test_host().executor(), [&] {
        if (!ends_second)
            return engine.reset();
        boost::asio::post(test_host().executor(), [&] { engine.reset(); });
    });

    CHECK(eventually([&] { return !engine; }));
    bool has_turned = false;
    boost::asio::post(test_host().executor(), [&] { has_turned = true; });
    CHECK(eventually([&] { return has_turned; }));
    CHECK(given_back == 0);
}
