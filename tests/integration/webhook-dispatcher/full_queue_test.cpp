#include "integration/common/postgres/rows_read.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;

namespace {

constexpr int many_rows = 3'000, few_rows = 10;
constexpr int executions = 10; // PostgreSQL caches a plan after five

// Index entries and rows of webhooks.due_deliveries read so far.
std::int64_t read_so_far(postgres::pool& db, testing::scratch_database& scratch)
{
    return testing::rows_read(db, scratch, "^due_deliveries$");
}

webhooks::delivery_outcome success(event_id event, account_id account, webhook_id webhook,
                                   uuid lease)
{
    webhooks::delivery_outcome outcome;
    outcome.event = event;
    outcome.webhook = webhook;
    outcome.account = account;
    outcome.lease = lease;
    outcome.next = webhooks::delivery_outcome::state::succeeded;
    outcome.attempts = 1;
    outcome.has_attempt = true;
    outcome.at = system_clock_source{}.now();
    outcome.status = 200;
    return outcome;
}

void fill(testing::scratch_database& scratch, account_id account, webhook_id webhook,
          const std::string& lease)
{
    scratch.execute("INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, "
                    "run_at, lease_id, lease_until)"
                    "SELECT webhooks.lowest_uuid(now() + n * interval '1 ms'), '" +
                    webhook.text() + "', '" + account.text() + "', now() - interval '1 minute', " +
                    lease + ", CASE WHEN " + lease +
                    " IS NOT NULL THEN now() + interval '1 hour' END FROM generate_series(1, " +
                    std::to_string(many_rows) + ") AS n");
}

} // namespace

TEST_CASE(
    "outcomes are written by a plan of the empty queue without reading the whole of a full one",
    "[webhooks][postgres]")
{
    testing::scratch_database scratch({"webhooks"});
    postgres::pool db(testing::test_host(), testing::one_connection(scratch));
    webhooks::queue_repository queue(db);
    const auto account = account_id::make();
    const auto webhook = webhook_id::make();
    const auto lease = uuid::make_v7();
    scratch.execute("VACUUM ANALYZE webhooks.due_deliveries");
    for (int i = 0; i < executions; ++i)
        await(queue.write({success(event_id::make(), account, webhook, lease)}));
    fill(scratch, account, webhook, "'" + lease.text() + "'::uuid");
    std::vector<webhooks::delivery_outcome> batch;
    for (const auto& row : scratch.execute("SELECT event_id FROM webhooks.due_deliveries LIMIT " +
                                           std::to_string(few_rows)))
        batch.push_back(success(event_id::parse(row[0].c_str()).value(), account, webhook, lease));

    const auto before = read_so_far(db, scratch);
    await(queue.write(batch));

    CHECK(read_so_far(db, scratch) - before < many_rows);
    CHECK(scratch.execute("SELECT count(*) FROM webhooks.due_deliveries")[0][0].as<int>() ==
          many_rows - few_rows);
    CHECK(
        scratch.execute("SELECT count(*) FROM webhooks.deliveries WHERE state = 'succeeded'")[0][0]
            .as<int>() == few_rows);
}

TEST_CASE(
    "deliveries are claimed by a plan of the empty queue without reading the whole of a full one",
    "[webhooks][postgres]")
{
    testing::scratch_database scratch({"webhooks"});
    postgres::pool db(testing::test_host(), testing::one_connection(scratch));
    webhooks::queue_repository queue(db);
    webhooks::claim_request request;
    request.queue.account = account_id::make();
    request.queue.webhook = webhook_id::make();
    request.capacity = few_rows;
    scratch.execute("VACUUM ANALYZE webhooks.due_deliveries");
    for (int i = 0; i < executions; ++i)
        await(queue.claim({request}, uuid::make_v7()));
    fill(scratch, request.queue.account, request.queue.webhook, "NULL::uuid");

    const auto before = read_so_far(db, scratch);
    const auto claimed = await(queue.claim({request}, uuid::make_v7()));

    CHECK(claimed.size() == few_rows);
    CHECK(read_so_far(db, scratch) - before < many_rows);
    // Their bodies were searched among the events of their day, or of two at midnight.
    CHECK(scratch
              .execute("SELECT count(*) FROM pg_stat_user_tables WHERE relname ~ '^events_' AND "
                       "idx_scan > 0")[0][0]
              .as<int>() <= 2);
}
