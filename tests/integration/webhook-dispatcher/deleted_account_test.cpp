#include "integration/webhook-dispatcher/deliveries_suite.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::deliveries_suite;
using testing::email;
using testing::email_record;

namespace {

void delete_account(deliveries_suite& s)
{
    plans::account_state deleted;
    deleted.account = s.account;
    deleted.version = 9;
    deleted.is_deleted = true;
    await(s.process.rules.put_states({deleted}));
}

void purge_deleted(deliveries_suite& s)
{
    while (await(s.process.partitions.purge_deleted_accounts()))
        ;
}

} // namespace

TEST_CASE("of a deleted account nothing stays, and nothing goes of another", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.create_rule(webhook, "hello");
    const auto other = account_id::make();
    await(s.process.webhook_rpc.create(testing::webhook_request(other, s.hook.url()))).value();
    s.process.start();
    s.deliver({email_record(email(s.account)), email_record(email(s.account, "to nobody")),
               email_record(email(other))});
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 2));
    s.fail(3);
    const auto attempts = s.count("webhooks.attempts");
    REQUIRE(
        await(s.process.delivery_rpc.replay(s.replay_request(webhook, "succeeded"))).has_value());
    REQUIRE(s.becomes("webhooks.attempts", attempts + 1));
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 2));
    s.scratch.execute(
        "INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, run_at) VALUES "
        "(gen_random_uuid(), '" +
        webhook + "', '" + s.account.text() + "', '2100-01-01T00:00:00Z')");
    s.scratch.execute("INSERT INTO webhooks.failing_endpoints (webhook_id, account_id, failures, "
                      "first_failure_at, last_failure_at) VALUES ('" +
                      webhook + "', '" + s.account.text() + "', 1, now(), now())");
    REQUIRE(s.count("webhooks.routings") == 2);

    delete_account(s);
    for (const auto* table : {"endpoints", "rules", "replays", "failing_endpoints"})
        CHECK(s.count("webhooks." + std::string(table) + " WHERE account_id = '" +
                      s.account.text() + "'") == 0);
    // Not until other processes have finished what is in flight.
    purge_deleted(s);
    CHECK(s.count("webhooks.deleted_accounts") == 1);
    CHECK(s.count("webhooks.due_deliveries") == 1);
    s.scratch.execute(
        "UPDATE webhooks.deleted_accounts SET deleted_at = deleted_at - interval '2 minutes'");
    purge_deleted(s);

    for (const auto* table : {"due_deliveries", "events", "deliveries", "attempts", "routings"}) {
        INFO(table);
        CHECK(s.count("webhooks." + std::string(table) + " WHERE account_id = '" +
                      s.account.text() + "'") == 0);
    }
    for (const auto* table : {"events", "deliveries", "attempts"})
        CHECK(s.count("webhooks." + std::string(table) + " WHERE account_id = '" + other.text() +
                      "'") == 1);
    CHECK(s.count("webhooks.deleted_accounts") == 0);
}

TEST_CASE("an account with many deliveries goes in steps, and one without a webhook needs none",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    s.create_webhook(s.hook.url());
    s.scratch.execute(
        "INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body) SELECT "
        "webhooks.lowest_uuid(now() - n * interval '1 s'), CASE WHEN n % 2 = 0 THEN '" +
        s.account.text() +
        "'::uuid ELSE gen_random_uuid() END, 'email.received', now(), '{}' "
        "FROM generate_series(1, 5000) n");
    plans::account_state without;
    without.account = account_id::make();
    without.is_deleted = true;
    await(s.process.rules.put_states({without}));
    CHECK(s.count("webhooks.deleted_accounts") == 0);
    delete_account(s);
    s.scratch.execute(
        "UPDATE webhooks.deleted_accounts SET deleted_at = deleted_at - interval '2 minutes'");

    CHECK(await(s.process.partitions.purge_deleted_accounts()));
    CHECK(s.count("webhooks.events") == 3'000);
    purge_deleted(s);

    CHECK(s.count("webhooks.events") == 2'500);
    CHECK(s.count("webhooks.deleted_accounts") == 0);
}

TEST_CASE("nothing older than its tombstone makes an account live again, known before or not",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const bool was_known = GENERATE(true, false);
    if (was_known)
        s.create_webhook(s.hook.url());
    plans::account_state state;
    state.account = s.account;
    state.version = 9;
    state.is_deleted = true;
    const auto tombstone =
        testing::to_record(events::make_row(state, event_id::make(), trace::traceparent::make()));
    state.is_deleted = false;
    state.version = 8;
    state.limits.webhooks = 5;
    const auto older =
        testing::to_record(events::make_row(state, event_id::make(), trace::traceparent::make()));

    s.deliver({tombstone});
    s.deliver({older});

    CHECK(s.count("webhooks.account_states WHERE version = 9 AND account_id = '" +
                  s.account.text() + "'") == 1);
    auto late = testing::webhook_request(s.account, s.hook.url());
    late.mutable_account()->set_version(8);
    CHECK(await(s.process.webhook_rpc.create(late)).error().code == errc::permission_denied);
    CHECK(s.count("webhooks.endpoints") == 0);
}
