#include "integration/webhook-dispatcher/deliveries_suite.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::deliveries_suite;
using testing::email;
using testing::email_record;
using testing::sent_id;

namespace {

std::int64_t replay(deliveries_suite& s, const webhooks::v1::ReplayDeliveriesRequest& request)
{
    return await(s.process.delivery_rpc.replay(request)).value().replayed();
}

// Steps as a process makes them, until no replay is due for one.
std::int64_t step_all(deliveries_suite& s)
{
    std::int64_t moved = 0;
    for (bool was_found = true; was_found;) {
        const auto done = await(s.process.replays.step_due());
        moved += done.moved;
        was_found = done.was_found;
    }
    return moved;
}

// No search finds a replay that made its first step.
void hold_searches(deliveries_suite& s)
{
    s.scratch.execute("CREATE FUNCTION webhooks.hold_search() RETURNS trigger LANGUAGE plpgsql AS "
                      "$$BEGIN NEW.next_step_at = 'infinity'; RETURN NEW; END$$;"
                      "CREATE TRIGGER hold_search BEFORE UPDATE ON webhooks.replays FOR EACH ROW "
                      "EXECUTE FUNCTION webhooks.hold_search()");
}

void let_time_pass(deliveries_suite& s)
{
    s.scratch.execute("UPDATE webhooks.replays SET next_step_at = now() - interval '1 s'");
}

} // namespace

TEST_CASE("a replay sends every failed delivery again with its own id, each once",
          "[webhooks][postgres]")
{
    constexpr int count = 150;
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(count);
    s.process.start();

    CHECK(replay(s, s.replay_request(webhook)) == count);

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
    std::multiset<std::string> ids;
    for (const auto& request : s.hook.requests())
        ids.insert(sent_id(request));
    CHECK(ids == std::multiset<std::string>(events.begin(), events.end()));
    CHECK(s.becomes("webhooks.replays WHERE finished_at IS NOT NULL AND moved = 150", 1));
}

TEST_CASE("a replay is of what had failed when it was requested, since a moment",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(3);
    s.scratch.execute("UPDATE webhooks.deliveries SET state = 'succeeded' WHERE event_id = '" +
                      events[0] + "'");
    s.scratch.execute(
        "UPDATE webhooks.deliveries SET state = 'skipped_disabled' WHERE event_id = '" + events[1] +
        "'");
    auto old = s.replay_request(webhook);
    old.mutable_since()->set_seconds(to_unix_micros(testing::test_host().clock().now()) /
                                     1'000'000);
    old.mutable_since()->set_nanos(999'000'000);
    await(s.process.replays.step_due());
    auto request = s.replay_request(webhook);

    CHECK(replay(s, request) == 2);
    s.fail(1); // later: not part of this replay
    CHECK(step_all(s) == 2);

    CHECK(s.count(
              "webhooks.due_deliveries WHERE is_retry AND attempts = 0 AND began_at IS NOT NULL") ==
          2);
    CHECK(s.count("webhooks.deliveries") == 2);
    // The same request again: its response was lost.
    CHECK(replay(s, request) == 2);
    CHECK(s.count("webhooks.replays") == 1);
}

TEST_CASE("succeeded deliveries are replayed when they are requested", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(3);
    s.scratch.execute("UPDATE webhooks.deliveries SET state = 'succeeded' WHERE event_id = '" +
                      events[0] + "'");

    CHECK(replay(s, s.replay_request(webhook, "succeeded")) == 1);
    CHECK(step_all(s) == 1);

    CHECK(s.count("webhooks.due_deliveries WHERE event_id = '" + events[0] + "'") == 1);
}

TEST_CASE("a replay leaves out tests, however they ended and however often they are sent",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(500));
    const auto failed =
        await(s.process.delivery_rpc.test(s.test_request(webhook))).value().delivery();
    REQUIRE(failed.status() == "failed");
    REQUIRE(await(s.process.delivery_rpc.retry(s.retry_request(webhook, failed.event_id())))
                .has_value());
    s.hook.respond_always(testing::receiver::scripted_response(200));
    REQUIRE(await(s.process.delivery_rpc.test(s.test_request(webhook))).has_value());

    CHECK(replay(s, s.replay_request(webhook)) == 0);
    CHECK(replay(s, s.replay_request(webhook, "succeeded")) == 0);
    s.fail(1);
    CHECK(replay(s, s.replay_request(webhook)) == 1);
    CHECK(step_all(s) == 1);

    CHECK(s.count("webhooks.deliveries WHERE is_test") == 2);
}

TEST_CASE("a test that another process ends is still none of a replay", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(500));
    webhooks::new_event sample;
    sample.id = event_id::make();
    sample.account = s.account;
    sample.occurred_at = testing::test_host().clock().now();
    sample.body = "{}";
    REQUIRE(await(s.process.manual_deliveries.begin_test(sample, webhook_id::parse(webhook).value(),
                                                         9, uuid::make_v7()))
                .has_value());

    s.free_leases();
    s.process.start();

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'exhausted'", 1));
    CHECK(replay(s, s.replay_request(webhook)) == 0);
}

TEST_CASE("a replay of a webhook that the plan no longer covers is refused and changes nothing",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(1);
    plans::account_state shrunk;
    shrunk.account = s.account;
    shrunk.version = 7;
    shrunk.limits.webhooks = 1;
    await(s.process.rules.put_states({shrunk}));

    CHECK(await(s.process.delivery_rpc.replay(s.replay_request(webhook))).error().code ==
          errc::permission_denied);
    CHECK(await(s.process.delivery_rpc.replay(s.replay_request(webhook_id::make().text())))
              .error()
              .code == errc::not_found);
    CHECK(s.count("webhooks.replays") == 0);
    CHECK(s.count("webhooks.deliveries") == 2);
}

TEST_CASE("a replay without anything to do ends at once", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();

    CHECK(replay(s, s.replay_request(webhook)) == 0);

    CHECK(s.count("webhooks.replays WHERE finished_at IS NOT NULL") == 1);
}

TEST_CASE("a replay puts back few at a time and continues as they are attempted",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(100);
    replay(s, s.replay_request(webhook));

    CHECK(step_all(s) == 32);
    let_time_pass(s);
    CHECK(step_all(s) == 0);
    CHECK(s.count("webhooks.deliveries") == 68);
    // Attempted and failed: they are ordinary retries now.
    s.scratch.execute("UPDATE webhooks.due_deliveries SET attempts = 1");
    let_time_pass(s);
    CHECK(step_all(s) == 32);
}

TEST_CASE("what a step of a replay moved is requested at once, without a search for due deliveries",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(100);
    int wakes = 0;
    s.process.engine.on_claim_request([&] { ++wakes; });
    replay(s, s.replay_request(webhook));

    // The claimer is not running: nobody searches.
    s.process.replayer.start();
    for (int step = 1; step <= 3; ++step) {
        INFO("step " << step);
        REQUIRE(testing::eventually([&] { return wakes == step; }, 60s));
        const auto requests = s.process.engine.take_claim_requests();
        REQUIRE(requests.size() == 1);
        CHECK(requests[0].queue.webhook.text() == webhook);
        CHECK(requests[0].queue.queue == webhooks::queue_kind::retry);
        // As if all that was moved had been claimed and attempted.
        for (std::size_t i = 0; i < requests[0].capacity; ++i)
            s.process.engine.release(requests[0].queue.webhook, requests[0].queue.queue);
        s.process.engine.clear_backlog(requests[0]);
        s.scratch.execute("UPDATE webhooks.due_deliveries SET attempts = 1");
    }

    await(s.process.replayer.stop());
    s.process.engine.on_claim_request(nullptr);
    CHECK(s.count("webhooks.due_deliveries") >= 96);
}

TEST_CASE("each step of a replay follows the attempts of the one before, without a search",
          "[webhooks][postgres]")
{
    constexpr int count = 120; // several steps
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(count);
    hold_searches(s);
    s.process.start();

    SECTION("when the receiver takes them")
    {
        CHECK(replay(s, s.replay_request(webhook)) == count);
        CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
    }
    SECTION("when it refuses some, which wait for their retries")
    {
        s.hook.respond_with({testing::receiver::scripted_response(500)});
        CHECK(replay(s, s.replay_request(webhook)) == count);
        CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
    }
    SECTION("when their events are no longer kept")
    {
        s.scratch.execute("DELETE FROM webhooks.events");
        CHECK(replay(s, s.replay_request(webhook)) == count);
        CHECK(s.becomes("webhooks.deliveries WHERE state = 'aborted'", count));
    }
    CHECK(s.becomes("webhooks.replays WHERE finished_at IS NOT NULL AND moved = 120", 1));
}

TEST_CASE("replicas that share a replay keep it going without a search", "[webhooks][postgres]")
{
    constexpr int count = 120; // several steps
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(count);
    hold_searches(s);
    testing::dispatcher other(s.scratch.dsn());
    s.process.start();
    other.start();

    CHECK(replay(s, s.replay_request(webhook)) == count);

    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
}

TEST_CASE("where a process died another continues the replay, and nothing is moved twice",
          "[webhooks][postgres]")
{
    constexpr int count = 120;
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(count);
    replay(s, s.replay_request(webhook));
    CHECK(step_all(s) == 32); // then this process dies; what it moved is unsent

    testing::dispatcher one(s.scratch.dsn()), other(s.scratch.dsn());
    one.start();
    other.start();

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
    std::multiset<std::string> ids;
    for (const auto& request : s.hook.requests())
        ids.insert(sent_id(request));
    CHECK(ids == std::multiset<std::string>(events.begin(), events.end()));
}

TEST_CASE("two replays of the same deliveries send each once", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(10);
    CHECK(replay(s, s.replay_request(webhook)) == 10);
    CHECK(replay(s, s.replay_request(webhook)) == 10);

    CHECK(step_all(s) == 10);
    let_time_pass(s);
    step_all(s);

    CHECK(s.count("webhooks.due_deliveries") == 10);
    CHECK(s.count("webhooks.replays WHERE finished_at IS NOT NULL") == 2);
}

TEST_CASE("a webhook has five replays under way at most", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(1);
    for (int i = 0; i < 5; ++i)
        CHECK(await(s.process.delivery_rpc.replay(s.replay_request(webhook))).has_value());

    CHECK(await(s.process.delivery_rpc.replay(s.replay_request(webhook))).error().reason ==
          error_reason::replay_in_progress);
}

TEST_CASE("a replay ends when its webhook is switched off or deleted midway",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(50);
    replay(s, s.replay_request(webhook));
    CHECK(step_all(s) == 32);

    SECTION("switched off: what was put back is kept as skipped, the rest stays failed")
    {
        await(s.process.endpoints.disable(s.account, webhook_id::parse(webhook).value(), "test"));
        let_time_pass(s);
        CHECK(step_all(s) == 0);
        CHECK(s.count("webhooks.replays WHERE end_reason = 'the webhook is switched off'") == 1);
        testing::dispatcher another(s.scratch.dsn());
        another.start();
        CHECK(s.becomes("webhooks.deliveries WHERE state = 'skipped_disabled'", 32));
    }
    SECTION("deleted")
    {
        webhooks::v1::DeleteWebhookRequest removal;
        removal.set_account_id(s.account.text());
        removal.set_webhook_id(webhook);
        REQUIRE(await(s.process.webhook_rpc.remove(removal)).has_value());
        let_time_pass(s);
        CHECK(step_all(s) == 0);
        CHECK(s.count("webhooks.replays WHERE end_reason = 'the webhook was deleted'") == 1);
        CHECK(s.count("webhooks.due_deliveries") == 0);
    }
    CHECK(s.hook.requests().empty());
}

TEST_CASE("mail that comes during a replay is not delayed by it", "[webhooks][postgres]")
{
    deliveries_suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(200);
    testing::receiver::scripted_response slow;
    slow.delay = 30s; // longer than the mail is waited for
    s.hook.respond_always(slow);
    CHECK(replay(s, s.replay_request(webhook)) == 200);
    REQUIRE(s.hook.got(2)); // as many as a replay sends at a time

    const auto mail = email(s.account);
    s.deliver({email_record(mail)});

    CHECK(testing::eventually([&] {
        return std::any_of(
            s.hook.requests().begin(), s.hook.requests().end(),
            [&](const auto& request) { return sent_id(request) == mail.email_id(); });
    }));
}

TEST_CASE("a replayed delivery that fails again has its whole schedule, whatever its age",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(1);
    s.scratch.execute("UPDATE webhooks.deliveries SET created_at = created_at - interval '8 days'");
    s.hook.respond_always(testing::receiver::scripted_response(500));
    s.process.start();

    replay(s, s.replay_request(webhook));

    REQUIRE(s.becomes("webhooks.due_deliveries WHERE attempts > 0 AND lease_id IS NULL AND run_at "
                      "> now() + interval '2 s'",
                      1));
    CHECK(s.count("webhooks.due_deliveries WHERE created_at < now() - interval '7 days'") == 1);
    CHECK(s.list(webhook, "pending").value().deliveries_size() == 1);
}

TEST_CASE("replays that ended long ago are purged", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    replay(s, s.replay_request(webhook));

    CHECK(await(s.process.replays.purge_older_than(30)) == 0);
    s.scratch.execute("UPDATE webhooks.replays SET finished_at = now() - interval '31 days'");
    CHECK(await(s.process.replays.purge_older_than(30)) == 1);
}
