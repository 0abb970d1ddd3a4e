#include "webhook-dispatcher/storage/manual_retry_repository.hpp"

#include "webhook-dispatcher/storage/delivery_id.hpp"

namespace tempinbox::webhooks {
namespace {

// A bucket (GCRA) that leaks one request each $3 milliseconds and holds one minute of them; no row
// means it is full.
constexpr postgres::statement take_token{"resend_take_token", R"(
INSERT INTO webhooks.manual_limits AS known (webhook_id, kind, busy_until)
VALUES ($1::uuid, $2, clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT (webhook_id, kind) DO UPDATE
SET busy_until = greatest(known.busy_until, clock_timestamp()) + $3 * interval '1 millisecond'
WHERE known.busy_until <= clock_timestamp() + interval '1 minute' - $3 * interval '1 millisecond'
RETURNING 1)"};

constexpr postgres::statement is_known{"resend_is_known", R"(
SELECT 1 FROM webhooks.due_deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid UNION ALL
SELECT 1 FROM webhooks.deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid)"};

constexpr postgres::statement insert_event{"resend_insert_event", R"(
INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body)
VALUES ($1::uuid, $2::uuid, $3, timestamptz 'epoch' + $4 * interval '1 microsecond',
    convert_to($5, 'UTF8')))"};

// After a crash, the process that takes over makes the last attempt.
constexpr postgres::statement insert_test{"resend_insert_test", R"(
INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, attempts, is_retry, run_at,
    lease_id, lease_until, is_test)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4, true, now(), $5::uuid,
    clock_timestamp() + $6 * interval '1 millisecond', true))"};

constexpr postgres::statement find_attempt{"resend_find_attempt", R"(
SELECT 1 FROM webhooks.attempts WHERE event_id = $1::uuid AND webhook_id = $2::uuid
    AND account_id = $3::uuid AND lease_id = $4::uuid)"};

constexpr postgres::statement lease_waiting{"resend_lease_waiting", R"(
UPDATE webhooks.due_deliveries
SET lease_id = $4::uuid, lease_until = clock_timestamp() + $5 * interval '1 millisecond'
WHERE event_id = $1::uuid AND webhook_id = $2::uuid AND account_id = $3::uuid
    AND (lease_id IS NULL OR lease_until < clock_timestamp())
RETURNING attempts, (extract(epoch FROM coalesce(began_at, created_at)) * 1000000)::bigint)"};

constexpr postgres::statement is_due{"resend_is_due", R"(
SELECT 1 FROM webhooks.due_deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid
    AND account_id = $3::uuid)"};

constexpr postgres::statement revive{"resend_revive", R"(
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
ON CONFLICT (event_id, webhook_id) DO NOTHING
RETURNING attempts, (extract(epoch FROM began_at) * 1000000)::bigint)"};

constexpr postgres::statement find_event{"resend_find_event", R"(
SELECT convert_from(body, 'UTF8'), traceparent FROM webhooks.events WHERE event_id = $1::uuid
    AND account_id = $2::uuid)"};

// $5: it was finished before; $6: it succeeded. The outcome is written only under the lease, the
// attempt in any case.
constexpr postgres::statement finish_manual{"resend_finish", R"(
WITH finished AS (
    DELETE FROM webhooks.due_deliveries WHERE event_id = $1::uuid AND webhook_id = $2::uuid
        AND lease_id = $4::uuid AND ($5 OR $6)
    RETURNING event_id, webhook_id, account_id, attempts, last_status, rule_ids, created_at, is_test
), given_back AS (
    UPDATE webhooks.due_deliveries
    SET lease_id = NULL, lease_until = NULL,
        last_status = coalesce(nullif($10::int, 0), last_status)
    WHERE event_id = $1::uuid AND webhook_id = $2::uuid AND lease_id = $4::uuid AND NOT ($5 OR $6)
), delivered AS (
    INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, attempts, last_status,
        reason, rule_ids, created_at, is_test)
    SELECT event_id, webhook_id, account_id,
           CASE WHEN $6 THEN 'succeeded' ELSE 'exhausted' END, $7::int,
           coalesce(nullif($10::int, 0), last_status), nullif($11, ''), rule_ids, created_at,
           is_test FROM finished
    ON CONFLICT (event_id, webhook_id) DO NOTHING
)
INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, account_id, at, duration_ms,
    status, error, response_body)
VALUES ($1::uuid, $2::uuid, $7::int, $4::uuid, $3::uuid,
    timestamptz 'epoch' + $8 * interval '1 microsecond', $9,
        nullif($10::int, 0), nullif($11, ''), nullif($12, ''))
ON CONFLICT DO NOTHING)"};

constexpr postgres::statement purge_limits_sql{"resend_purge_limits", R"(
DELETE FROM webhooks.manual_limits WHERE busy_until < now() - interval '1 day')"};

// Limits of a webhook: ten tests and sixty single retries a minute.
constexpr std::chrono::milliseconds test_interval{6'000};
constexpr std::chrono::milliseconds retry_interval{1'000};

failure too_often(const char* what, int number)
{
    return failure{errc::rate_limited, std::string(what) + " at most " + std::to_string(number) +
                                           " times a minute; try again in a few seconds"};
}

bool try_take_token(pqxx::work& tx, webhook_id webhook, const char* kind,
                    std::chrono::milliseconds interval)
{
    return !tx.exec_prepared(take_token.name, webhook.text(), kind, interval.count()).empty();
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
    auto rows = tx.exec_prepared(lease_waiting.name, event.text(), webhook.text(), account.text(),
                                 lease_id.text(), lease_time.count());
    taken_delivery taken;
    taken.was_finished = rows.empty();
    if (rows.empty())
        rows = tx.exec_prepared(revive.name, event.text(), webhook.text(), account.text(),
                                lease_id.text(), lease_time.count());
    if (rows.empty())
        return std::nullopt;
    taken.attempts = rows[0][0].as<int>();
    taken.began = from_unix_micros(rows[0][1].as<std::int64_t>());
    return taken;
}

failure no_such_delivery(event_id event, webhook_id webhook)
{
    return failure{errc::not_found,
                   "Delivery " + make_delivery_id(event, webhook).text() + " does not exist"};
}

// Unattempted deliveries of replays that may wait for a webhook: enough to keep its slots for
// retries busy, few enough that an ordinary retry waits for a handful at most.
constexpr int max_waiting = 32;
// Under way at a time for one webhook.
constexpr int max_replays = 5;
// Between two steps of one replay; the longer one if there was no room.
constexpr int step_interval_millis = 100;
constexpr int backpressure_interval_millis = 500;

constexpr postgres::statement find_replay{"replay_find", R"(
SELECT counted FROM webhooks.replays WHERE replay_id = $1::uuid AND account_id = $2::uuid
    AND webhook_id = $3::uuid)"};

constexpr postgres::statement find_webhook{"replay_find_webhook", R"(
SELECT is_enabled FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

constexpr postgres::statement count_under_way{"replay_count_under_way", R"(
SELECT count(*) FROM webhooks.replays WHERE webhook_id = $1::uuid AND finished_at IS NULL)"};

constexpr postgres::statement count_failed{"replay_count_failed", R"(
SELECT count(*) FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid
    AND state <> 'succeeded' AND NOT is_test
    AND finished_at <= now()
    AND event_id > webhooks.lowest_uuid(timestamptz 'epoch' + $3 * interval '1 microsecond'))"};

constexpr postgres::statement count_succeeded{"replay_count_succeeded", R"(
SELECT count(*) FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid
    AND state = 'succeeded' AND NOT is_test
    AND finished_at <= now()
    AND event_id > webhooks.lowest_uuid(timestamptz 'epoch' + $3 * interval '1 microsecond'))"};

constexpr postgres::statement insert_replay{"replay_insert", R"(
INSERT INTO webhooks.replays (replay_id, account_id, webhook_id, is_of_succeeded, position, counted,
    created_at, finished_at)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4,
    webhooks.lowest_uuid(timestamptz 'epoch' + $5 * interval '1 microsecond'), $6::bigint,
        now(), CASE WHEN $6::bigint = 0 THEN now() END))"};

constexpr postgres::statement take_step{"replay_take_step", R"(
SELECT r.replay_id, r.account_id, r.webhook_id, r.is_of_succeeded, r.position,
       (SELECT e.is_enabled FROM webhooks.endpoints e WHERE e.account_id = r.account_id
           AND e.webhook_id = r.webhook_id),
       (SELECT count(*) FROM (SELECT 1 FROM webhooks.due_deliveries d
           WHERE d.webhook_id = r.webhook_id AND d.is_retry AND d.attempts = 0 LIMIT $1) w)
FROM webhooks.replays r WHERE r.finished_at IS NULL AND r.next_step_at <= clock_timestamp()
ORDER BY r.next_step_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED)"};

// $1 webhook, $2 account, $3 the replay, $4 how many, $5 past this event. The schedule of the
// deliveries begins anew.
constexpr const char* move_sql = R"(
WITH replayed AS (SELECT position, created_at FROM webhooks.replays WHERE replay_id = $3::uuid),
chosen AS MATERIALIZED (
    SELECT d.event_id FROM webhooks.deliveries d
    WHERE d.webhook_id = $1::uuid AND d.account_id = $2::uuid AND d.event_id > $5::uuid
      AND d.finished_at <= (SELECT created_at FROM replayed) AND NOT d.is_test AND %STATE%
    ORDER BY d.event_id LIMIT $4 FOR UPDATE
), moved AS (
    DELETE FROM webhooks.deliveries d USING chosen c WHERE d.event_id = c.event_id
        AND d.webhook_id = $1::uuid
    RETURNING d.event_id, d.webhook_id, d.account_id, d.rule_ids, d.last_status, d.created_at
), put_back AS (
    INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, attempts, is_retry,
        run_at, rule_ids, last_status, created_at, began_at)
    SELECT event_id, webhook_id, account_id, 0, true, now(), rule_ids, last_status, created_at,
        now() FROM moved ORDER BY event_id
    ON CONFLICT (event_id, webhook_id) DO NOTHING
)
SELECT event_id FROM chosen ORDER BY event_id)";

std::string with_state(const char* state)
{
    std::string sql = move_sql;
    return sql.replace(sql.find("%STATE%"), 7, state);
}

const std::string move_failed_sql = with_state("d.state <> 'succeeded'");
const std::string move_succeeded_sql = with_state("d.state = 'succeeded'");

constexpr postgres::statement note_step{"replay_note_step", R"(
UPDATE webhooks.replays SET position = $2::uuid, moved = moved + $3,
    next_step_at = clock_timestamp() + $4 * interval '1 millisecond' WHERE replay_id = $1::uuid)"};

constexpr postgres::statement end_replay{"replay_end", R"(
UPDATE webhooks.replays SET finished_at = clock_timestamp(), end_reason = nullif($2, '')
    WHERE replay_id = $1::uuid)"};

constexpr postgres::statement purge_replays{"replay_purge", R"(
DELETE FROM webhooks.replays WHERE finished_at < now() - $1 * interval '1 day')"};

} // namespace

manual_retry_repository::manual_retry_repository(postgres::pool& db) : db_(db)
{
    db_.prepare({"replay_move_failed", move_failed_sql.c_str()});
    db_.prepare({"replay_move_succeeded", move_succeeded_sql.c_str()});
    for (const auto& statement :
         {take_token,       is_known,      insert_event, insert_test,     find_attempt,
          lease_waiting,    is_due,        revive,       find_event,      finish_manual,
          purge_limits_sql, find_replay,   find_webhook, count_under_way, count_failed,
          count_succeeded,  insert_replay, take_step,    note_step,       end_replay,
          purge_replays})
        db_.prepare(statement);
}

awaitable<result<taken_delivery>>
manual_retry_repository::begin_test(new_event event, webhook_id webhook, int attempts, uuid lease)
{
    return db_.transact([event = std::move(event), webhook, attempts,
                         lease](pqxx::work& tx) -> result<taken_delivery> {
        if (!tx.exec_prepared(is_known.name, event.id.text(), webhook.text()).empty())
            return sent_before();
        if (!try_take_token(tx, webhook, "test", test_interval))
            return too_often("A webhook can be tested", 10);
        tx.exec_prepared0(insert_event.name, event.id.text(), event.account.text(),
                          std::string(to_string(event.kind)), to_unix_micros(event.occurred_at),
                          event.body);
        tx.exec_prepared0(insert_test.name, event.id.text(), webhook.text(), event.account.text(),
                          attempts, lease.text(), lease_time.count());
        taken_delivery taken;
        taken.was_finished = true; // nothing follows a test
        taken.began = event.occurred_at;
        taken.body = event.body;
        return taken;
    });
}

awaitable<result<taken_delivery>>
manual_retry_repository::take(account_id account, webhook_id webhook, event_id event, uuid lease_id)
{
    return db_.transact([account, webhook, event,
                         lease_id](pqxx::work& tx) -> result<taken_delivery> {
        const auto known = tx.exec_prepared(find_attempt.name, event.text(), webhook.text(),
                                            account.text(), lease_id.text());
        if (!known.empty())
            return sent_before();
        auto taken = lease(tx, account, webhook, event, lease_id);
        if (!taken) {
            if (tx.exec_prepared(is_due.name, event.text(), webhook.text(), account.text()).empty())
                return no_such_delivery(event, webhook);
            return failure{errc::conflict,
                           "Delivery " + make_delivery_id(event, webhook).text() +
                               " is being sent right now; read it again in a moment"};
        }
        const auto content = tx.exec_prepared(find_event.name, event.text(), account.text());
        if (content.empty())
            return no_such_delivery(event, webhook);
        taken->body = content[0][0].as<std::string>();
        taken->traceparent = content[0][1].is_null() ? "" : content[0][1].as<std::string>();
        if (!try_take_token(tx, webhook, "retry", retry_interval))
            return too_often("Deliveries of a webhook can be sent by hand", 60);
        return std::move(*taken);
    });
}

awaitable<void> manual_retry_repository::finish(manual_attempt attempt)
{
    return db_.transact([attempt = std::move(attempt)](pqxx::work& tx) {
        tx.exec_prepared0(finish_manual.name, attempt.event.text(), attempt.webhook.text(),
                          attempt.account.text(), attempt.lease.text(), attempt.was_finished,
                          attempt.has_succeeded, attempt.number, to_unix_micros(attempt.at),
                          attempt.took.count(), attempt.status, attempt.error,
                          attempt.response_body);
    });
}

awaitable<int> manual_retry_repository::purge_limits()
{
    return db_.transact([](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_limits_sql.name).affected_rows());
    });
}

awaitable<result<std::int64_t>> manual_retry_repository::begin_replay(replay_params params)
{
    return db_.transact([params = std::move(params)](pqxx::work& tx) -> result<std::int64_t> {
        const auto account = params.account.text(), webhook = params.webhook.text();
        const auto known = tx.exec_prepared(find_replay.name, params.id.text(), account, webhook);
        if (!known.empty())
            return known[0][0].as<std::int64_t>();
        const auto endpoint = tx.exec_prepared(find_webhook.name, account, webhook);
        if (endpoint.empty())
            return failure{errc::not_found, "Webhook " + webhook + " does not exist"};
        if (!endpoint[0][0].as<bool>())
            return failure{errc::conflict,
                           "Webhook " + webhook +
                               " is switched off; PATCH it with isEnabled true first"};
        if (tx.exec_prepared1(count_under_way.name, webhook)[0].as<int>() >= max_replays)
            return failure{errc::conflict, "Webhook " + webhook + " has " +
                                               std::to_string(max_replays) +
                                               " replays under way; wait until one has ended"};
        const auto* counting = params.is_of_succeeded ? count_succeeded.name : count_failed.name;
        const auto counted =
            tx.exec_prepared1(counting, account, webhook, to_unix_micros(params.since))[0]
                .as<std::int64_t>();
        tx.exec_prepared0(insert_replay.name, params.id.text(), account, webhook,
                          params.is_of_succeeded, to_unix_micros(params.since), counted);
        return counted;
    });
}

awaitable<replay_step> manual_retry_repository::step_replay()
{
    return db_.transact([](pqxx::work& tx) {
        replay_step done;
        const auto rows = tx.exec_prepared(take_step.name, max_waiting);
        if (rows.empty())
            return done;
        done.found_one = true;
        const auto& row = rows[0];
        done.webhook = webhook_id::parse(row[2].as<std::string>()).value();
        const auto id = row[0].as<std::string>(), account = row[1].as<std::string>(),
                   webhook = row[2].as<std::string>();
        if (row[5].is_null() || !row[5].as<bool>()) {
            done.has_ended = true;
            tx.exec_prepared0(end_replay.name, id,
                              row[5].is_null() ? "the webhook was deleted"
                                               : "the webhook is switched off");
            return done;
        }
        const auto position = row[4].as<std::string>();
        const int room = max_waiting - row[6].as<int>();
        if (room <= 0) {
            tx.exec_prepared0(note_step.name, id, position, 0, backpressure_interval_millis);
            return done;
        }
        const auto moved =
            tx.exec_prepared(row[3].as<bool>() ? "replay_move_succeeded" : "replay_move_failed",
                             webhook, account, id, room, position);
        done.moved = static_cast<std::int64_t>(moved.size());
        tx.exec_prepared0(note_step.name, id,
                          moved.empty() ? position : moved.back()[0].as<std::string>(), done.moved,
                          step_interval_millis);
        done.has_ended = static_cast<int>(moved.size()) < room;
        if (done.has_ended)
            tx.exec_prepared0(end_replay.name, id, "");
        return done;
    });
}

awaitable<int> manual_retry_repository::purge_replays_older_than(int days)
{
    return db_.transact([days](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_replays.name, days).affected_rows());
    });
}

} // namespace tempinbox::webhooks
