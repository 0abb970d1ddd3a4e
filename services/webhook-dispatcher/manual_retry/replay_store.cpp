#include "webhook-dispatcher/manual_retry/replay_store.hpp"

namespace tempinbox::webhooks {
namespace {

// Unattempted deliveries of replays that may wait for a webhook: enough to keep its slots for
// retries busy, few enough that an ordinary retry waits for a handful at most.
constexpr int max_waiting = 32;
// Under way at a time for one webhook.
constexpr int max_replays = 5;
// Between two steps of one replay; the longer one if there was no room.
constexpr int step_interval_millis = 100;
constexpr int backpressure_interval_millis = 500;

constexpr postgres::statement find_replay{"replay_find", R"(
SELECT counted FROM webhooks.replays WHERE replay_id = $1::uuid AND account_id = $2::uuid AND webhook_id = $3::uuid)"};

constexpr postgres::statement find_webhook{"replay_find_webhook", R"(
SELECT is_enabled FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

constexpr postgres::statement count_under_way{"replay_count_under_way", R"(
SELECT count(*) FROM webhooks.replays WHERE webhook_id = $1::uuid AND finished_at IS NULL)"};

constexpr postgres::statement count_failed{"replay_count_failed", R"(
SELECT count(*) FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid AND state <> 'succeeded' AND NOT is_test
  AND finished_at <= now() AND event_id > webhooks.lowest_uuid(timestamptz 'epoch' + $3 * interval '1 microsecond'))"};

constexpr postgres::statement count_succeeded{"replay_count_succeeded", R"(
SELECT count(*) FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid AND state = 'succeeded' AND NOT is_test
  AND finished_at <= now() AND event_id > webhooks.lowest_uuid(timestamptz 'epoch' + $3 * interval '1 microsecond'))"};

constexpr postgres::statement insert_replay{"replay_insert", R"(
INSERT INTO webhooks.replays (replay_id, account_id, webhook_id, is_of_succeeded, position, counted, created_at, finished_at)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4, webhooks.lowest_uuid(timestamptz 'epoch' + $5 * interval '1 microsecond'), $6::bigint,
        now(), CASE WHEN $6::bigint = 0 THEN now() END))"};

constexpr postgres::statement take_step{"replay_take_step", R"(
SELECT r.replay_id, r.account_id, r.webhook_id, r.is_of_succeeded, r.position,
       (SELECT e.is_enabled FROM webhooks.endpoints e WHERE e.account_id = r.account_id AND e.webhook_id = r.webhook_id),
       (SELECT count(*) FROM (SELECT 1 FROM webhooks.due_deliveries d WHERE d.webhook_id = r.webhook_id AND d.is_retry AND d.attempts = 0 LIMIT $1) w)
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
    DELETE FROM webhooks.deliveries d USING chosen c WHERE d.event_id = c.event_id AND d.webhook_id = $1::uuid
    RETURNING d.event_id, d.webhook_id, d.account_id, d.rule_ids, d.last_status, d.created_at
), put_back AS (
    INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, attempts, is_retry, run_at, rule_ids, last_status, created_at, began_at)
    SELECT event_id, webhook_id, account_id, 0, true, now(), rule_ids, last_status, created_at, now() FROM moved ORDER BY event_id
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
UPDATE webhooks.replays SET finished_at = clock_timestamp(), end_reason = nullif($2, '') WHERE replay_id = $1::uuid)"};

constexpr postgres::statement purge_replays{"replay_forget", R"(
DELETE FROM webhooks.replays WHERE finished_at < now() - $1 * interval '1 day')"};

} // namespace

replay_store::replay_store(postgres::pool& db) : db_(db)
{
    db_.prepare({"replay_move_failed", move_failed_sql.c_str()});
    db_.prepare({"replay_move_succeeded", move_succeeded_sql.c_str()});
    for (const auto& statement :
         {find_replay, find_webhook, count_under_way, count_failed, count_succeeded, insert_replay,
          take_step, note_step, end_replay, purge_replays})
        db_.prepare(statement);
}

awaitable<result<std::int64_t>> replay_store::begin(replay_params params)
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

awaitable<replay_step> replay_store::step()
{
    return db_.transact([](pqxx::work& tx) {
        replay_step done;
        const auto rows = tx.exec_prepared(take_step.name, max_waiting);
        if (rows.empty())
            return done;
        done.found_one = true;
        const auto& row = rows[0];
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

awaitable<int> replay_store::purge_older_than(int days)
{
    return db_.transact([days](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_replays.name, days).affected_rows());
    });
}

} // namespace tempinbox::webhooks
