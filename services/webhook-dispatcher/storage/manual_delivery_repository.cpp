#include "webhook-dispatcher/storage/manual_delivery_repository.hpp"

#include "common/postgres/session.hpp"
#include "webhook-dispatcher/storage/delivery_id.hpp"

#include "common/postgres/column.hpp"

namespace tempinbox::webhooks {
namespace {

using postgres::column;

// Limits of a webhook: ten tests and sixty single retries a minute.
constexpr std::chrono::milliseconds test_interval{6'000};
constexpr std::chrono::milliseconds retry_interval{1'000};

// A bucket (GCRA) that leaks one request each $4 milliseconds and holds one minute of them; no row
// means it is full.
constexpr postgres::statement take_token{"manual_take_token", R"(
INSERT INTO webhooks.manual_limits AS known (account_id, webhook_id, kind, busy_until)
VALUES ($1::uuid, $2::uuid, $3, clock_timestamp() + $4 * interval '1 millisecond')
ON CONFLICT (account_id, webhook_id, kind) DO UPDATE
SET busy_until = greatest(known.busy_until, clock_timestamp()) + $4 * interval '1 millisecond'
WHERE known.busy_until <= clock_timestamp() + interval '1 minute' - $4 * interval '1 millisecond'
RETURNING 1)"};

constexpr postgres::statement is_stored{"manual_is_stored", R"(
SELECT 1 FROM webhooks.due_deliveries
    WHERE event_id = $1::uuid AND webhook_id = $2::uuid AND account_id = $3::uuid
UNION ALL
SELECT 1 FROM webhooks.deliveries
    WHERE event_id = $1::uuid AND webhook_id = $2::uuid AND account_id = $3::uuid)"};

constexpr postgres::statement insert_event{"manual_insert_event", R"(
INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body)
VALUES ($1::uuid, $2::uuid, $3, timestamptz 'epoch' + $4 * interval '1 microsecond',
    convert_to($5, 'UTF8')))"};

// After a crash, the process that takes over makes the last attempt.
constexpr postgres::statement insert_test{"manual_insert_test", R"(
INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, attempts, is_retry, run_at,
    lease_id, lease_until, is_test)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4, true, now(), $5::uuid,
    clock_timestamp() + $6 * interval '1 millisecond', true))"};

constexpr postgres::statement find_attempt{"manual_find_attempt", R"(
SELECT 1 FROM webhooks.attempts WHERE event_id = $1::uuid AND webhook_id = $2::uuid
    AND account_id = $3::uuid AND lease_id = $4::uuid)"};

constexpr postgres::statement lease_waiting{"manual_lease_waiting", R"(
UPDATE webhooks.due_deliveries
SET lease_id = $4::uuid, lease_until = clock_timestamp() + $5 * interval '1 millisecond'
WHERE event_id = $1::uuid AND webhook_id = $2::uuid AND account_id = $3::uuid
    AND (lease_id IS NULL OR lease_until < clock_timestamp())
RETURNING attempts, (extract(epoch FROM coalesce(began_at, created_at)) * 1000000)::bigint
    AS began_at)"};

constexpr postgres::statement is_due{"manual_is_due", R"(
SELECT 1 FROM webhooks.due_deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid
    AND account_id = $3::uuid)"};

constexpr postgres::statement revive{"manual_revive", R"(
WITH finished AS (
    DELETE FROM webhooks.deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid
        AND account_id = $3::uuid
    RETURNING event_id, webhook_id, account_id, attempts, rule_ids, last_status, created_at, is_test
)
INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, attempts, is_retry, run_at,
    lease_id, lease_until, rule_ids, last_status, created_at, began_at, is_test)
SELECT event_id, webhook_id, account_id, attempts, true, now(), $4::uuid,
    clock_timestamp() + $5 * interval '1 millisecond', rule_ids, last_status, created_at, now(),
    is_test FROM finished
ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING
RETURNING attempts, (extract(epoch FROM began_at) * 1000000)::bigint AS began_at)"};

constexpr postgres::statement find_event{"manual_find_event", R"(
SELECT convert_from(body, 'UTF8') AS body, traceparent FROM webhooks.events WHERE event_id = $1::uuid
    AND account_id = $2::uuid)"};

// $5: it was finished before; $6: it succeeded. The outcome is written only under the lease, the
// attempt in any case.
constexpr postgres::statement finish_manual{"manual_finish", R"(
WITH finished AS (
    DELETE FROM webhooks.due_deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid
        AND account_id = $3::uuid AND lease_id = $4::uuid AND ($5 OR $6)
    RETURNING event_id, webhook_id, account_id, attempts, last_status, rule_ids, created_at, is_test
), given_back AS (
    UPDATE webhooks.due_deliveries
    SET lease_id = NULL, lease_until = NULL,
        last_status = coalesce(nullif($10::int, 0), last_status)
    WHERE event_id = $1::uuid AND webhook_id = $2::uuid AND account_id = $3::uuid
        AND lease_id = $4::uuid AND NOT ($5 OR $6)
), delivered AS (
    INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, attempts, last_status,
        reason, rule_ids, created_at, is_test)
    SELECT event_id, webhook_id, account_id,
           CASE WHEN $6 THEN 'succeeded' ELSE 'exhausted' END, $7::int,
           coalesce(nullif($10::int, 0), last_status), nullif($11, ''), rule_ids, created_at,
           is_test FROM finished
    ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING
)
INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, account_id, at, duration_ms,
    status, error, response_body)
VALUES ($1::uuid, $2::uuid, $7::int, $4::uuid, $3::uuid,
    timestamptz 'epoch' + $8 * interval '1 microsecond', $9,
        nullif($10::int, 0), nullif($11, ''), nullif($12, ''))
ON CONFLICT DO NOTHING)"};

constexpr postgres::statement purge_unused_limits{"manual_purge_limits", R"(
DELETE FROM webhooks.manual_limits WHERE busy_until < now() - interval '1 day')"};

failure too_often(const char* what, int number)
{
    return failure{errc::rate_limited,
                   std::string(what) + " at most " + std::to_string(number) +
                       " times a minute; try again in a few seconds",
                   error_reason::manual_limit};
}

bool try_take_token(pqxx::work& tx, account_id account, webhook_id webhook, const char* kind,
                    std::chrono::milliseconds interval)
{
    return !postgres::exec_prepared(tx, take_token.name, account.text(), webhook.text(), kind,
                                    interval.count())
                .empty();
}

taken_delivery sent_before()
{
    taken_delivery taken;
    taken.was_sent_before = true;
    return taken;
}

// Leases a waiting delivery, or puts a finished one back and leases it; nullopt if that is not
// possible.
std::optional<taken_delivery> lease(pqxx::work& tx, account_id account, webhook_id webhook,
                                    event_id event, uuid lease_id)
{
    auto rows = postgres::exec_prepared(tx, lease_waiting.name, event.text(), webhook.text(),
                                        account.text(), lease_id.text(), lease_time.count());
    taken_delivery taken;
    taken.was_finished = rows.empty();
    if (rows.empty())
        rows = postgres::exec_prepared(tx, revive.name, event.text(), webhook.text(),
                                       account.text(), lease_id.text(), lease_time.count());
    if (rows.empty())
        return std::nullopt;
    taken.attempts = column<int>(rows[0], "attempts");
    taken.began = column<time_point>(rows[0], "began_at");
    return taken;
}

} // namespace

manual_delivery_repository::manual_delivery_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {take_token, is_stored, insert_event, insert_test, find_attempt, lease_waiting, is_due,
          revive, find_event, finish_manual, purge_unused_limits})
        db_.prepare(statement);
}

awaitable<result<taken_delivery>> manual_delivery_repository::begin_test(new_event event,
                                                                         webhook_id webhook,
                                                                         int attempts, uuid lease)
{
    return db_.transact([event = std::move(event), webhook, attempts,
                         lease](pqxx::work& tx) -> result<taken_delivery> {
        if (!postgres::exec_prepared(tx, is_stored.name, event.id.text(), webhook.text(),
                                     event.account.text())
                 .empty())
            return sent_before();
        if (!try_take_token(tx, event.account, webhook, "test", test_interval))
            return too_often("A webhook can be tested", 10);
        postgres::exec_prepared0(tx, insert_event.name, event.id.text(), event.account.text(),
                                 std::string(to_string(event.kind)),
                                 to_unix_micros(event.occurred_at), event.body);
        postgres::exec_prepared0(tx, insert_test.name, event.id.text(), webhook.text(),
                                 event.account.text(), attempts, lease.text(), lease_time.count());
        taken_delivery taken;
        taken.was_finished = true; // nothing follows a test
        taken.began = event.occurred_at;
        taken.body = event.body;
        return taken;
    });
}

awaitable<result<taken_delivery>> manual_delivery_repository::take(account_id account,
                                                                   webhook_id webhook,
                                                                   event_id event, uuid lease_id)
{
    return db_.transact([account, webhook, event,
                         lease_id](pqxx::work& tx) -> result<taken_delivery> {
        const auto earlier = postgres::exec_prepared(
            tx, find_attempt.name, event.text(), webhook.text(), account.text(), lease_id.text());
        if (!earlier.empty())
            return sent_before();
        auto taken = lease(tx, account, webhook, event, lease_id);
        if (!taken) {
            if (postgres::exec_prepared(tx, is_due.name, event.text(), webhook.text(),
                                        account.text())
                    .empty())
                return no_such_delivery(event, webhook);
            return failure{errc::conflict,
                           "Delivery " + make_delivery_id(event, webhook).text() +
                               " is being sent right now; read it again in a moment",
                           error_reason::delivery_in_progress};
        }
        const auto content =
            postgres::exec_prepared(tx, find_event.name, event.text(), account.text());
        if (content.empty())
            return no_such_delivery(event, webhook);
        taken->body = column<std::string>(content[0], "body");
        taken->traceparent = content[0]["traceparent"].as<std::string>("");
        if (!try_take_token(tx, account, webhook, "retry", retry_interval))
            return too_often("Deliveries of a webhook can be sent by hand", 60);
        return std::move(*taken);
    });
}

awaitable<void> manual_delivery_repository::finish(manual_attempt attempt)
{
    return db_.transact([attempt = std::move(attempt)](pqxx::work& tx) {
        postgres::exec_prepared0(tx, finish_manual.name, attempt.event.text(),
                                 attempt.webhook.text(), attempt.account.text(),
                                 attempt.lease.text(), attempt.was_finished, attempt.has_succeeded,
                                 attempt.number, to_unix_micros(attempt.at), attempt.took.count(),
                                 attempt.status, attempt.error, attempt.response_body);
    });
}

awaitable<int> manual_delivery_repository::purge_limits()
{
    return db_.transact([](pqxx::work& tx) {
        return static_cast<int>(
            postgres::exec_prepared(tx, purge_unused_limits.name).affected_rows());
    });
}

} // namespace tempinbox::webhooks
