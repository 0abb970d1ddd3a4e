#include "webhook-dispatcher/storage/replay_repository.hpp"

#include "common/postgres/session.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/postgres/column.hpp"

namespace tempinbox::webhooks {
namespace {

using postgres::column;

// Unattempted deliveries of replays that may wait for a webhook: enough to keep its slots for
// retries busy, few enough that an ordinary retry waits for a handful at most.
constexpr int max_waiting = 32;
// Under way at a time for one webhook.
constexpr int max_replays = 5;
// From a step until the replay is due for another, if no attempt of its deliveries asks for one
// before.
constexpr int step_timeout_millis = 500;
constexpr int full_timeout_millis = 5'000; // if there was no room

constexpr postgres::statement find_replay{"replays_find", R"(
SELECT counted FROM webhooks.replays WHERE replay_id = $1::uuid AND account_id = $2::uuid
    AND webhook_id = $3::uuid)"};

constexpr postgres::statement find_webhook{"replays_find_webhook", R"(
SELECT is_enabled FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

constexpr postgres::statement count_under_way{"replays_count_under_way", R"(
SELECT count(*) AS count FROM webhooks.replays
WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND finished_at IS NULL)"};

// The conditions below are part of the texts: as parameters they would hide the partial index and
// the index of next_step_at from the planner.
const std::string is_failed = "d.state <> 'succeeded'";
const std::string is_succeeded = "d.state = 'succeeded'";

std::string count_sql(const std::string& condition)
{
    return R"(
SELECT count(*) AS count FROM webhooks.deliveries d
WHERE d.webhook_id = $2::uuid AND d.account_id = $1::uuid AND NOT d.is_test
    AND d.finished_at <= now()
    AND d.event_id > webhooks.lowest_uuid(timestamptz 'epoch' + $3 * interval '1 microsecond')
    AND )" +
           condition;
}

constexpr postgres::statement insert_replay{"replays_insert", R"(
INSERT INTO webhooks.replays (replay_id, account_id, webhook_id, is_of_succeeded, position, counted,
    created_at, finished_at)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4,
    webhooks.lowest_uuid(timestamptz 'epoch' + $5 * interval '1 microsecond'), $6::bigint,
        now(), CASE WHEN $6::bigint = 0 THEN now() END))"};

// The replay whose next step is due first. $1: how many waiting deliveries are counted at most.
std::string take_step_sql(const std::string& condition)
{
    return R"(
SELECT r.replay_id, r.account_id, r.webhook_id, r.is_of_succeeded, r.position,
       (SELECT e.is_enabled FROM webhooks.endpoints e WHERE e.account_id = r.account_id
           AND e.webhook_id = r.webhook_id) AS is_enabled,
       (SELECT count(*) FROM (SELECT 1 FROM webhooks.due_deliveries d
           WHERE d.account_id = r.account_id AND d.webhook_id = r.webhook_id
               AND d.is_retry AND d.attempts = 0 LIMIT $1) w) AS waiting
FROM webhooks.replays r WHERE r.finished_at IS NULL AND )" +
           condition + R"(
ORDER BY r.next_step_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED)";
}

// $1 webhook, $2 account, $3 the replay, $4 how many, $5 past this event. The schedule of the
// deliveries begins anew.
std::string move_sql(const std::string& condition)
{
    return R"(
WITH replayed AS (SELECT position, created_at FROM webhooks.replays
    WHERE account_id = $2::uuid AND replay_id = $3::uuid),
finished AS MATERIALIZED (
    SELECT d.event_id FROM webhooks.deliveries d
    WHERE d.webhook_id = $1::uuid AND d.account_id = $2::uuid AND d.event_id > $5::uuid
      AND d.finished_at <= (SELECT created_at FROM replayed) AND NOT d.is_test AND )" +
           condition + R"(
    ORDER BY d.event_id LIMIT $4 FOR UPDATE
), moved AS (
    DELETE FROM webhooks.deliveries d USING finished f WHERE d.account_id = $2::uuid
        AND d.webhook_id = $1::uuid AND d.event_id = f.event_id
    RETURNING d.event_id, d.webhook_id, d.account_id, d.rule_ids, d.last_status, d.created_at
), put_back AS (
    INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, attempts, is_retry,
        run_at, rule_ids, last_status, created_at, began_at)
    SELECT event_id, webhook_id, account_id, 0, true, now(), rule_ids, last_status, created_at,
        now() FROM moved ORDER BY event_id
    ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING
)
SELECT event_id FROM finished ORDER BY event_id)";
}

const std::string count_failed_sql = count_sql(is_failed);
const std::string count_succeeded_sql = count_sql(is_succeeded);
const std::string take_due_step_sql = take_step_sql("r.next_step_at <= clock_timestamp()");
const std::string take_step_of_webhook_sql =
    take_step_sql("r.account_id = $2::uuid AND r.webhook_id = $3::uuid");
const std::string move_failed_sql = move_sql(is_failed);
const std::string move_succeeded_sql = move_sql(is_succeeded);

const postgres::statement count_failed{"replays_count_failed", count_failed_sql.c_str()};
const postgres::statement count_succeeded{"replays_count_succeeded", count_succeeded_sql.c_str()};
const postgres::statement take_due_step{"replays_take_due_step", take_due_step_sql.c_str()};
const postgres::statement take_step_of_webhook{"replays_take_step_of_webhook",
                                               take_step_of_webhook_sql.c_str()};
const postgres::statement move_failed{"replays_move_failed", move_failed_sql.c_str()};
const postgres::statement move_succeeded{"replays_move_succeeded", move_succeeded_sql.c_str()};

constexpr postgres::statement note_step{"replays_note_step", R"(
UPDATE webhooks.replays SET position = $2::uuid, moved = moved + $3,
    next_step_at = clock_timestamp() + $4 * interval '1 millisecond'
    WHERE account_id = $5::uuid AND replay_id = $1::uuid)"};

constexpr postgres::statement end_replay{"replays_end", R"(
UPDATE webhooks.replays SET finished_at = clock_timestamp(), end_reason = nullif($2, '')
    WHERE account_id = $3::uuid AND replay_id = $1::uuid)"};

constexpr postgres::statement purge_replays{"replays_purge", R"(
DELETE FROM webhooks.replays WHERE finished_at < now() - $1 * interval '1 day')"};

// `taken`: the locked row of the replay, if one was found.
replay_step step_replay(pqxx::work& tx, const pqxx::result& taken)
{
    replay_step step;
    if (taken.empty())
        return step;
    const auto& row = taken[0];
    step.was_found = true;
    step.webhook = {column<account_id>(row, "account_id"), column<webhook_id>(row, "webhook_id")};
    const auto id = column<std::string>(row, "replay_id"),
               account = column<std::string>(row, "account_id");

    const auto is_enabled = column<std::optional<bool>>(row, "is_enabled");
    if (!is_enabled.value_or(false)) {
        step.has_ended = true;
        postgres::exec_prepared0(
            tx, end_replay.name, id,
            is_enabled ? "the webhook is switched off" : "the webhook was deleted", account);
        return step;
    }

    const auto position = column<std::string>(row, "position");
    const int room = max_waiting - column<int>(row, "waiting");
    if (room <= 0) {
        postgres::exec_prepared0(tx, note_step.name, id, position, 0, full_timeout_millis, account);
        return step;
    }

    const auto& move = column<bool>(row, "is_of_succeeded") ? move_succeeded : move_failed;
    const auto moved = postgres::exec_prepared(tx, move.name, step.webhook.webhook.text(), account,
                                               id, room, position);
    step.moved = static_cast<std::int64_t>(moved.size());
    postgres::exec_prepared0(tx, note_step.name, id,
                             moved.empty() ? position
                                           : column<std::string>(moved.back(), "event_id"),
                             step.moved, step_timeout_millis, account);
    step.has_ended = static_cast<int>(moved.size()) < room;
    if (step.has_ended)
        postgres::exec_prepared0(tx, end_replay.name, id, "", account);
    return step;
}

} // namespace

replay_repository::replay_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {find_replay, find_webhook, count_under_way, count_failed, count_succeeded, insert_replay,
          take_due_step, take_step_of_webhook, move_failed, move_succeeded, note_step, end_replay,
          purge_replays})
        db_.prepare(statement);
}

awaitable<result<std::int64_t>> replay_repository::begin(replay_params params)
{
    return db_.transact([params = std::move(params)](pqxx::work& tx) -> result<std::int64_t> {
        const auto account = params.account.text(), webhook = params.webhook.text();
        const auto earlier =
            postgres::exec_prepared(tx, find_replay.name, params.id.text(), account, webhook);
        if (!earlier.empty())
            return column<std::int64_t>(earlier[0], "counted");
        const auto endpoint = postgres::exec_prepared(tx, find_webhook.name, account, webhook);
        if (endpoint.empty())
            return no_such_webhook(params.webhook);
        if (!column<bool>(endpoint[0], "is_enabled"))
            return failure{errc::conflict,
                           "Webhook " + webhook +
                               " is switched off; PATCH it with isEnabled true first",
                           error_reason::webhook_disabled};
        if (column<int>(postgres::exec_prepared1(tx, count_under_way.name, account, webhook),
                        "count") >= max_replays)
            return failure{errc::conflict,
                           "Webhook " + webhook + " has " + std::to_string(max_replays) +
                               " replays under way; wait until one has ended",
                           error_reason::replay_in_progress};
        const auto& count = params.is_of_succeeded ? count_succeeded : count_failed;
        const auto counted =
            column<std::int64_t>(postgres::exec_prepared1(tx, count.name, account, webhook,
                                                          to_unix_micros(params.since)),
                                 "count");
        postgres::exec_prepared0(tx, insert_replay.name, params.id.text(), account, webhook,
                                 params.is_of_succeeded, to_unix_micros(params.since), counted);
        return counted;
    });
}

awaitable<replay_step> replay_repository::step_due()
{
    return db_.transact([](pqxx::work& tx) {
        return step_replay(tx, postgres::exec_prepared(tx, take_due_step.name, max_waiting));
    });
}

awaitable<replay_step> replay_repository::step_of(webhook_key webhook)
{
    return db_.transact([webhook](pqxx::work& tx) {
        return step_replay(tx,
                           postgres::exec_prepared(tx, take_step_of_webhook.name, max_waiting,
                                                   webhook.account.text(), webhook.webhook.text()));
    });
}

awaitable<int> replay_repository::purge_older_than(int days)
{
    return db_.transact([days](pqxx::work& tx) {
        return static_cast<int>(
            postgres::exec_prepared(tx, purge_replays.name, days).affected_rows());
    });
}

} // namespace tempinbox::webhooks
