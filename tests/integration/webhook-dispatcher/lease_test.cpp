#include "integration/webhook-dispatcher/suite.hpp"

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::email;
using testing::email_record;
using testing::suite;

namespace {

webhooks::claim_request request_for(const suite& s, const std::string& webhook,
                                    std::size_t capacity)
{
    webhooks::claim_request request;
    request.queue.account = s.account;
    request.queue.webhook = webhook_id::parse(webhook).value();
    request.capacity = capacity;
    return request;
}

webhooks::delivery_outcome outcome_of(const webhooks::claimed_delivery& claimed, uuid lease,
                                      webhooks::delivery_outcome::state next)
{
    webhooks::delivery_outcome outcome;
    outcome.event = claimed.event;
    outcome.webhook = claimed.webhook;
    outcome.account = claimed.account;
    outcome.lease = lease;
    outcome.next = next;
    outcome.attempts = claimed.attempts + 1;
    outcome.has_attempt = true;
    outcome.at = system_clock_source{}.now();
    outcome.status = 200;
    return outcome;
}

awaitable<void> drop_old(webhooks::retention_repository& partitions)
{
    for (bool may_have_more = true; may_have_more;)
        may_have_more = co_await partitions.drop_partition_older_than(30);
}

} // namespace

TEST_CASE("an outcome whose lease was lost changes nothing but leaves its attempt",
          "[webhooks][postgres]")
{
    using state = webhooks::delivery_outcome::state;
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.deliver({email_record(email(s.account))});
    s.free_leases();
    const auto first_lease = uuid::make_v7(), second_lease = uuid::make_v7();
    const auto first = await(s.process.queue.claim({request_for(s, webhook, 8)}, first_lease));
    REQUIRE(first.size() == 1);
    s.free_leases();
    const auto second = await(s.process.queue.claim({request_for(s, webhook, 8)}, second_lease));
    REQUIRE(second.size() == 1);

    await(s.process.queue.write({outcome_of(first[0], first_lease, state::succeeded)}));
    CHECK(s.count("webhooks.due_deliveries WHERE lease_id = '" + second_lease.text() + "'") == 1);
    CHECK(s.count("webhooks.deliveries") == 0);
    CHECK(s.count("webhooks.attempts") == 1);

    await(s.process.queue.write({outcome_of(second[0], second_lease, state::exhausted)}));
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.count("webhooks.deliveries WHERE state = 'exhausted'") == 1);
    CHECK(s.count("webhooks.attempts") == 2);
    // Written again after an unknown commit.
    await(s.process.queue.write({outcome_of(second[0], second_lease, state::exhausted)}));
    CHECK(s.count("webhooks.attempts") == 2);
}

TEST_CASE("a leased delivery is claimed by nobody else", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.deliver({email_record(email(s.account))});
    s.free_leases();

    CHECK(await(s.process.queue.claim({request_for(s, webhook, 8)}, uuid::make_v7())).size() == 1);
    CHECK(await(s.process.queue.claim({request_for(s, webhook, 8)}, uuid::make_v7())).empty());
    CHECK(await(s.process.queue.find_due(std::nullopt, 100)).queues.empty());
}

TEST_CASE("a claim takes at most the requested capacity, first attempts and retries apart",
          "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    std::vector<kafka::record> batch;
    for (int i = 0; i < 10; ++i)
        batch.push_back(email_record(email(s.account)));
    s.deliver(batch);
    s.free_leases();
    s.scratch.execute(
        "UPDATE webhooks.due_deliveries SET attempts = 1, is_retry = true WHERE event_id IN "
        "(SELECT event_id FROM webhooks.due_deliveries "
        "LIMIT 4)");
    auto retries = request_for(s, webhook, 3);
    retries.queue.queue = webhooks::queue_kind::retry;

    const auto claimed =
        await(s.process.queue.claim({request_for(s, webhook, 2), retries}, uuid::make_v7()));

    CHECK(claimed.size() == 5);
    CHECK(std::count_if(claimed.begin(), claimed.end(),
                        [](const auto& entry) { return entry.attempts == 1; }) == 3);
    CHECK(claimed[0].body.has_value());
}

TEST_CASE("find_due walks over everything due, page by page", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    std::set<std::string> expected;
    for (int i = 0; i < 3; ++i)
        expected.insert(s.create_webhook(s.hook.url()).webhook().webhook_id());
    std::vector<kafka::record> batch;
    for (int i = 0; i < 7; ++i)
        batch.push_back(email_record(email(s.account)));
    s.deliver(batch);
    s.free_leases();

    std::set<std::string> seen;
    std::optional<webhooks::due_page::position> from;
    int pages = 0;
    do {
        const auto page = await(s.process.queue.find_due(from, 4));
        for (const auto& queue : page.queues)
            seen.insert(queue.webhook.text());
        from = page.next;
        ++pages;
    } while (from);

    CHECK(seen == expected);
    CHECK(await(s.process.queue.find_all_due()).size() == 3);
    CHECK(pages == 6); // 21 rows
}

TEST_CASE("deliveries of a process that is gone are taken over when their lease ends",
          "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    s.deliver({email_record(email(s.account))}); // never started: it dies with its lease
    CHECK(s.count("webhooks.due_deliveries WHERE lease_until > now() + interval '25 s'") == 1);

    testing::dispatcher another(s.scratch.dsn());
    another.start();
    s.scratch.execute("UPDATE webhooks.due_deliveries SET lease_until = now() - interval '1 ms'");

    REQUIRE(s.hook.got(1));
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
}

TEST_CASE("two processes share what is due without sending anything twice", "[webhooks][postgres]")
{
    constexpr int count = 120;
    suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    std::vector<kafka::record> batch;
    for (int i = 0; i < count; ++i)
        batch.push_back(email_record(email(s.account)));
    s.deliver(batch);
    s.free_leases();

    testing::dispatcher one(s.scratch.dsn()), other(s.scratch.dsn());
    one.start();
    other.start();

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
    CHECK(s.hook.requests().size() == count);
}

TEST_CASE("what waits in memory is given back when the process drains", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    testing::receiver::scripted_response slow;
    slow.delay = 300ms;
    s.hook.respond_always(slow);
    s.create_webhook(s.hook.url());
    std::vector<kafka::record> batch;
    for (int i = 0; i < 12; ++i)
        batch.push_back(email_record(email(s.account)));
    {
        testing::dispatcher stopping(s.scratch.dsn());
        stopping.start();
        await(stopping.ingest.handle(batch));
    }

    CHECK(s.hook.requests().size() == 6);
    CHECK(s.count("webhooks.deliveries WHERE state = 'succeeded'") == 6);
    CHECK(s.count("webhooks.due_deliveries WHERE lease_id IS NULL AND attempts = 0 AND run_at <= "
                  "now()") == 6);
}

TEST_CASE("partitions are made ahead and dropped after their time", "[webhooks][postgres]")
{
    suite s;
    webhooks::retention_repository partitions(s.process.db);
    const auto days = [&] { return s.count("pg_class WHERE relname ~ '^deliveries_[0-9]{8}$'"); };

    await(partitions.make_partitions(8, 3));
    CHECK(days() == 12);
    await(partitions.make_partitions(8, 3));
    CHECK(days() == 12);
    int dropped = 0;
    while (await(partitions.drop_partition_older_than(5)))
        ++dropped;

    CHECK(dropped == 12); // three days of four tables
    CHECK(days() == 9);
}

TEST_CASE("what is past its time goes with its day: event, delivery, attempts and routing, and "
          "nothing younger",
          "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.create_rule(webhook);
    s.deliver({email_record(email(s.account))});
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    // The same again 31 days ago: once in a partition of its day, and once in the default one, for
    // a day whose partition was never made.
    s.scratch.execute("SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - 31, (now() "
                      "AT TIME ZONE 'UTC')::date - 31)");
    for (const auto* days : {"31", "33"}) {
        const auto old = "webhooks.lowest_uuid(now() - interval '" + std::string(days) + " days')";
        s.scratch.execute(
            "INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body) SELECT " +
            old +
            ", account_id, type, occurred_at, body FROM webhooks.events "
            "WHERE event_id > webhooks.lowest_uuid(now() - interval '1 day')");
        s.scratch.execute("INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, "
                          "state, attempts, last_status, reason, rule_ids, created_at) SELECT " +
                          old +
                          ", webhook_id, account_id, state, attempts, last_status, reason, "
                          "rule_ids, created_at FROM webhooks.deliveries WHERE event_id > "
                          "webhooks.lowest_uuid(now() - interval '1 day')");
        s.scratch.execute("INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, "
                          "account_id, at, duration_ms) SELECT " +
                          old +
                          ", webhook_id, number, lease_id, account_id, at, duration_ms "
                          "FROM webhooks.attempts WHERE event_id > webhooks.lowest_uuid(now() - "
                          "interval '1 day')");
        s.scratch.execute(
            "INSERT INTO webhooks.routings (event_id, account_id, rule_ids, matched) SELECT " +
            old +
            ", account_id, rule_ids, matched FROM webhooks.routings "
            "WHERE event_id > webhooks.lowest_uuid(now() - interval '1 day')");
    }
    for (const auto* table : {"events", "deliveries", "attempts", "routings"})
        REQUIRE(s.count("webhooks." + std::string(table)) == 3);

    while (await(s.process.partitions.drop_partition_older_than(30)))
        ;

    for (const auto* table : {"events", "deliveries", "attempts", "routings"})
        CHECK(s.count("webhooks." + std::string(table)) == 1);
}

TEST_CASE(
    "a partition that somebody reads for long is not dropped, and nobody who writes waits for it",
    "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.deliver({email_record(email(s.account))});
    s.free_leases();
    const auto lease = uuid::make_v7();
    const auto claimed = await(s.process.queue.claim({request_for(s, webhook, 8)}, lease));
    REQUIRE(claimed.size() == 1);
    s.scratch.execute("SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - 31, (now() "
                      "AT TIME ZONE 'UTC')::date - 31)");
    pqxx::connection backup(s.scratch.dsn());
    pqxx::work reading(backup);
    reading.exec("LOCK TABLE webhooks.attempts IN ACCESS SHARE MODE");
    bool is_over = false;
    std::string refusal;
    boost::asio::co_spawn(testing::test_host().executor(), drop_old(s.process.partitions),
                          [&](const std::exception_ptr& error) {
                              is_over = true;
                              try {
                                  if (error)
                                      std::rethrow_exception(error);
                              } catch (const postgres::timed_out& timed_out) {
                                  refusal = timed_out.what();
                              }
                          });
    bool was_waiting = false;
    REQUIRE(testing::eventually([&] {
        was_waiting =
            was_waiting ||
            s.count("pg_locks WHERE NOT granted AND relation = 'webhooks.attempts'::regclass") != 0;
        return is_over;
    }));

    await(s.process.queue.write(
        {outcome_of(claimed[0], lease, webhooks::delivery_outcome::state::succeeded)}));

    // Who writes would wait behind it.
    CHECK_FALSE(was_waiting);
    // Not a lock time-out: that would come after a wait that makes others wait.
    CHECK(refusal.find("could not obtain lock on relation") != std::string::npos);
    CHECK(s.count("webhooks.attempts") == 1);
    CHECK(s.count("pg_class WHERE relname ~ '^attempts_[0-9]{8}$' AND right(relname, 8) < "
                  "to_char(now() - interval '30 days', "
                  "'YYYYMMDD')") == 1);
}

TEST_CASE(
    "making partitions waits neither for one who reads nor for another process that makes them",
    "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    auto& partitions = s.process.partitions;
    const auto days = [&] { return s.count("pg_class WHERE relname ~ '^deliveries_[0-9]{8}$'"); };
    await(partitions.make_partitions(8, 3));
    pqxx::connection connection(s.scratch.dsn());
    {
        pqxx::work backup(connection);
        backup.exec("LOCK TABLE webhooks.deliveries_default IN ACCESS SHARE MODE");
        await(partitions.make_partitions(8, 3)); // there is nothing to make
        CHECK_THROWS_WITH(await(partitions.make_partitions(8, 4)),
                          Catch::Contains("could not obtain lock on relation"));
    }
    {
        pqxx::work another(connection);
        another.exec("SELECT pg_advisory_xact_lock(hashtext('webhooks.partitions'))");
        await(partitions.make_partitions(8, 4));
        CHECK_FALSE(await(partitions.drop_partition_older_than(5)));
        CHECK(days() == 12);
    }

    await(partitions.make_partitions(8, 4));

    CHECK(days() == 13);
}
