#include "webhook-dispatcher/storage/delivery_repository.hpp"

#include "webhook-dispatcher/storage/delivery_id.hpp"

#include "common/core/text.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/daily_counts.hpp"
#include "common/postgres/read_each.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::webhooks {
namespace {

failure no_such_delivery(event_id event, webhook_id webhook)
{
    return failure{errc::not_found,
                   "Delivery " + make_delivery_id(event, webhook).text() + " does not exist"};
}

constexpr postgres::statement webhook_exists{"log_webhook_exists", R"(
SELECT 1 FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// A delivery is in one of the two tables. $1 account, $2 webhook, $3 only older events.
const std::string unfinished_sql = R"(
    SELECT event_id, 'pending' AS state, run_at AS next_at, created_at, rule_ids
    FROM webhooks.due_deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid
        AND event_id < $3::uuid)";
const std::string finished_sql = R"(
    SELECT event_id, state, NULL::timestamptz AS next_at, created_at, rule_ids
    FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid
        AND event_id < $3::uuid)";

std::string newest(const std::string& sql, const std::string& limit)
{
    return "(" + sql + " ORDER BY event_id DESC LIMIT " + limit + ")";
}

// $4: how many. The kind comes from the event, which lives as long.
std::string page_sql(const std::string& rows)
{
    return "WITH page AS MATERIALIZED (SELECT * FROM (" + rows +
           R"() AS found ORDER BY event_id DESC LIMIT $4)
SELECT p.event_id, p.state, (extract(epoch FROM p.next_at) * 1000000)::bigint,
       (extract(epoch FROM p.created_at) * 1000000)::bigint,
       array_to_string(p.rule_ids, ','),
       (SELECT type FROM webhooks.events e WHERE e.event_id = p.event_id OFFSET 0)
FROM page p ORDER BY p.event_id DESC)";
}

const std::string list_all_sql =
    page_sql(newest(unfinished_sql, "$4") + " UNION ALL " + newest(finished_sql, "$4"));
const std::string list_pending_sql = page_sql(newest(unfinished_sql, "$4"));
const std::string list_failed_sql =
    page_sql(newest(finished_sql + " AND state <> 'succeeded'", "$4"));
// If few of many deliveries succeeded, the scan stops after max_rows_scanned rows.
const std::string list_succeeded_sql =
    page_sql("SELECT * FROM " + newest(finished_sql, std::to_string(max_rows_scanned)) +
             " AS looked WHERE state = 'succeeded'");

// Where that scan stopped, if it did before the last row.
const std::string scan_end_sql = "SELECT event_id FROM webhooks.deliveries WHERE webhook_id = "
                                 "$2::uuid AND account_id = $1::uuid "
                                 "AND event_id < $3::uuid ORDER BY event_id DESC OFFSET " +
                                 std::to_string(max_rows_scanned - 1) + " LIMIT 1";

const std::string find_sql = page_sql(unfinished_sql + " AND event_id = $5::uuid UNION ALL " +
                                      finished_sql + " AND event_id = $5::uuid");

constexpr postgres::statement find_attempts{"log_attempts", R"(
SELECT w.event_id, a.at, a.took, a.status, a.error, a.response_body
FROM unnest($2::uuid[]) AS w(event_id) CROSS JOIN LATERAL (
    SELECT (extract(epoch FROM at) * 1000000)::bigint AS at, duration_ms AS took, status, error,
        response_body
    FROM webhooks.attempts WHERE event_id = w.event_id AND webhook_id = $1::uuid
        AND account_id = $3::uuid
    ORDER BY at DESC, number DESC LIMIT $4) a
ORDER BY w.event_id, a.at)"};

constexpr postgres::statement count_by_day{"deliveries_count", R"(
    SELECT date.day - date '1970-01-01', counted.deliveries
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date - n AS day
        FROM generate_series(0, $2::int - 1) AS n) AS date,
    LATERAL (SELECT count(*) AS deliveries FROM webhooks.endpoints AS e
        JOIN webhooks.deliveries AS d ON d.webhook_id = e.webhook_id
             WHERE e.account_id = $1::uuid
                 AND d.event_id >= webhooks.lowest_uuid(date.day::timestamp AT TIME ZONE 'UTC')
                 AND d.event_id < webhooks.lowest_uuid(
                     (date.day + 1)::timestamp AT TIME ZONE 'UTC')) AS counted
    WHERE counted.deliveries > 0 ORDER BY 1)"};

// Looks up each event by its key, whatever the planner thinks of joins.
constexpr postgres::statement find_routings_sql{"routings_find", R"(
SELECT asked.ordinal, said.rule_id, said.matched
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked(account_id, event_id, ordinal),
     LATERAL (SELECT r.rule_ids, r.matched FROM webhooks.routings AS r
              WHERE r.event_id = asked.event_id AND r.account_id = asked.account_id
              OFFSET 0) AS stored,
     unnest(stored.rule_ids, stored.matched) WITH ORDINALITY AS said(rule_id, matched, number)
ORDER BY asked.ordinal, said.number)"};

constexpr const char* past_every_event = "ffffffff-ffff-ffff-ffff-ffffffffffff";

logged_delivery read_delivery(const pqxx::row& row, webhook_id webhook)
{
    logged_delivery read;
    read.event = event_id::parse(row[0].as<std::string>()).value();
    read.webhook = webhook;
    read.status = status_of(row[1].as<std::string>());
    if (!row[2].is_null())
        read.next_attempt_at = from_unix_micros(row[2].as<std::int64_t>());
    read.created_at = from_unix_micros(row[3].as<std::int64_t>());
    for (const auto& rule : split_list(row[4].as<std::string>()))
        read.rules.push_back(rule_id::parse(rule).value());
    read.kind = parse_event_kind(row[5].as<std::string>()).value();
    return read;
}

// The event's partition may be dropped before the delivery's: then the delivery counts as gone,
// too.
std::vector<logged_delivery> read_deliveries(const pqxx::result& rows,
                                             pqxx::result::size_type count, webhook_id webhook)
{
    std::vector<logged_delivery> read;
    for (pqxx::result::size_type i = 0; i < count; ++i)
        if (!rows[i][5].is_null())
            read.push_back(read_delivery(rows[i], webhook));
    return read;
}

void add_attempts(pqxx::work& tx, account_id account, webhook_id webhook,
                  std::vector<logged_delivery>& deliveries)
{
    std::vector<event_id> events;
    std::map<std::string, logged_delivery*> by_event;
    for (auto& delivery : deliveries) {
        events.push_back(delivery.event);
        by_event.emplace(delivery.event.text(), &delivery);
    }
    if (events.empty())
        return;
    const auto rows =
        tx.exec_prepared(find_attempts.name, webhook.text(), postgres::to_array(events),
                         account.text(), max_attempts_shown);
    for (const auto& row : rows) {
        logged_attempt attempt;
        attempt.at = from_unix_micros(row[1].as<std::int64_t>());
        attempt.took = std::chrono::milliseconds(row[2].as<std::int64_t>());
        attempt.status = row[3].is_null() ? 0 : row[3].as<int>();
        attempt.error = row[4].is_null() ? "" : row[4].as<std::string>();
        attempt.response_body = row[5].is_null() ? "" : row[5].as<std::string>();
        by_event.at(row[0].as<std::string>())->attempts.push_back(std::move(attempt));
    }
}

// A delivery and its attempts are read by two statements, and an outcome changes both: the reads
// need one snapshot.
void see_one_state(pqxx::work& tx)
{
    tx.exec0("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
}

const char* statement_for(std::optional<delivery_status> status)
{
    if (!status)
        return "log_all";
    switch (*status) {
    case delivery_status::pending:
        return "log_pending";
    case delivery_status::succeeded:
        return "log_succeeded";
    case delivery_status::failed:
        return "log_failed";
    }
    return "log_all";
}

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

// Unattempted deliveries of replays that may wait for a webhook: enough to keep its slots for
// retries busy, few enough that an ordinary retry waits for a handful at most.
constexpr int max_waiting = 32;
// Under way at a time for one webhook.
constexpr int max_replays = 5;
// From a step until the replay is due for another, if no attempt of its deliveries asks for one
// before; the longer one if there was no room.
constexpr int step_timeout_millis = 500;
constexpr int full_timeout_millis = 5'000;

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

// $1: how many waiting deliveries are counted at most.
constexpr const char* take_step_sql = R"(
SELECT r.replay_id, r.account_id, r.webhook_id, r.is_of_succeeded, r.position,
       (SELECT e.is_enabled FROM webhooks.endpoints e WHERE e.account_id = r.account_id
           AND e.webhook_id = r.webhook_id),
       (SELECT count(*) FROM (SELECT 1 FROM webhooks.due_deliveries d
           WHERE d.webhook_id = r.webhook_id AND d.is_retry AND d.attempts = 0 LIMIT $1) w)
FROM webhooks.replays r WHERE r.finished_at IS NULL AND %CONDITION%
ORDER BY r.next_step_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED)";

// $1 webhook, $2 account, $3 the replay, $4 how many, $5 past this event. The schedule of the
// deliveries begins anew.
constexpr const char* move_sql = R"(
WITH replayed AS (SELECT position, created_at FROM webhooks.replays WHERE replay_id = $3::uuid),
chosen AS MATERIALIZED (
    SELECT d.event_id FROM webhooks.deliveries d
    WHERE d.webhook_id = $1::uuid AND d.account_id = $2::uuid AND d.event_id > $5::uuid
      AND d.finished_at <= (SELECT created_at FROM replayed) AND NOT d.is_test AND %CONDITION%
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

std::string with(std::string sql, std::string_view condition)
{
    constexpr std::string_view mark = "%CONDITION%";
    return sql.replace(sql.find(mark), mark.size(), condition);
}

const std::string take_due_step_sql = with(take_step_sql, "r.next_step_at <= clock_timestamp()");
const std::string take_step_of_sql = with(take_step_sql, "r.webhook_id = $2::uuid");
const std::string move_failed_sql = with(move_sql, "d.state <> 'succeeded'");
const std::string move_succeeded_sql = with(move_sql, "d.state = 'succeeded'");

constexpr postgres::statement note_step{"replay_note_step", R"(
UPDATE webhooks.replays SET position = $2::uuid, moved = moved + $3,
    next_step_at = clock_timestamp() + $4 * interval '1 millisecond' WHERE replay_id = $1::uuid)"};

constexpr postgres::statement end_replay{"replay_end", R"(
UPDATE webhooks.replays SET finished_at = clock_timestamp(), end_reason = nullif($2, '')
    WHERE replay_id = $1::uuid)"};

constexpr postgres::statement purge_replays{"replay_purge", R"(
DELETE FROM webhooks.replays WHERE finished_at < now() - $1 * interval '1 day')"};

// `taken`: the locked row of the replay, if one was found.
replay_step step_replay(pqxx::work& tx, const pqxx::result& taken)
{
    replay_step done;
    if (taken.empty())
        return done;
    done.found_one = true;
    const auto& row = taken[0];
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
        tx.exec_prepared0(note_step.name, id, position, 0, full_timeout_millis);
        return done;
    }
    const auto moved =
        tx.exec_prepared(row[3].as<bool>() ? "replay_move_succeeded" : "replay_move_failed",
                         webhook, account, id, room, position);
    done.moved = static_cast<std::int64_t>(moved.size());
    tx.exec_prepared0(note_step.name, id,
                      moved.empty() ? position : moved.back()[0].as<std::string>(), done.moved,
                      step_timeout_millis);
    done.has_ended = static_cast<int>(moved.size()) < room;
    if (done.has_ended)
        tx.exec_prepared0(end_replay.name, id, "");
    return done;
}

// In one statement.
std::vector<result<delivery_repository::routing>>
read_routings(pqxx::nontransaction& tx, const std::vector<std::pair<account_id, event_id>>& emails)
{
    using routing = delivery_repository::routing;
    std::vector<result<routing>> found(emails.size(), routing());
    const auto [accounts, events] = postgres::to_arrays(emails);
    for (const auto& row : tx.exec_prepared(find_routings_sql.name, accounts, events)) {
        auto& rules = *found.at(row[0].as<std::size_t>() - 1);
        if (!rules)
            rules.emplace();
        rules->push_back({rule_id::parse(row[1].c_str()).value(), row[2].as<bool>()});
    }
    return found;
}

} // namespace

delivery_repository::delivery_repository(postgres::pool& db) : db_(db)
{
    prepare_email_deliveries(db_);
    db_.prepare({"log_all", list_all_sql.c_str()});
    db_.prepare({"log_pending", list_pending_sql.c_str()});
    db_.prepare({"log_failed", list_failed_sql.c_str()});
    db_.prepare({"log_succeeded", list_succeeded_sql.c_str()});
    db_.prepare({"log_scan_end", scan_end_sql.c_str()});
    db_.prepare({"log_find", find_sql.c_str()});
    db_.prepare({"replay_take_due_step", take_due_step_sql.c_str()});
    db_.prepare({"replay_take_step_of", take_step_of_sql.c_str()});
    db_.prepare({"replay_move_failed", move_failed_sql.c_str()});
    db_.prepare({"replay_move_succeeded", move_succeeded_sql.c_str()});
    for (const auto& statement :
         {find_attempts, webhook_exists, count_by_day,    find_routings_sql, take_token,
          is_known,      insert_event,   insert_test,     find_attempt,      lease_waiting,
          is_due,        revive,         find_event,      finish_manual,     purge_limits_sql,
          find_replay,   find_webhook,   count_under_way, count_failed,      count_succeeded,
          insert_replay, note_step,      end_replay,      purge_replays})
        db_.prepare(statement);
}

awaitable<result<log_page>>
delivery_repository::list_deliveries(account_id account, webhook_id webhook,
                                     std::optional<delivery_status> status,
                                     std::optional<event_id> before, int limit)
{
    return db_.transact([account, webhook, status, before,
                         limit](pqxx::work& tx) -> result<log_page> {
        see_one_state(tx);
        if (tx.exec_prepared(webhook_exists.name, account.text(), webhook.text()).empty())
            return failure{errc::not_found, "Webhook " + webhook.text() + " does not exist"};
        const auto edge = before ? before->text() : past_every_event;
        // One more than requested shows whether there is another page.
        const auto rows = tx.exec_prepared(statement_for(status), account.text(), webhook.text(),
                                           edge, limit + 1);
        const auto last = std::min(rows.size(), static_cast<pqxx::result::size_type>(limit));
        log_page page;
        page.deliveries = read_deliveries(rows, last, webhook);
        if (rows.size() > last) {
            page.next = event_id::parse(rows[last - 1][0].as<std::string>()).value();
        } else if (status == delivery_status::succeeded) {
            const auto end = tx.exec_prepared("log_scan_end", account.text(), webhook.text(), edge);
            if (!end.empty())
                page.next = event_id::parse(end[0][0].as<std::string>()).value();
        }
        add_attempts(tx, account, webhook, page.deliveries);
        return page;
    });
}

awaitable<result<logged_delivery>>
delivery_repository::find_delivery(account_id account, webhook_id webhook, event_id event)
{
    return db_.transact([account, webhook, event](pqxx::work& tx) -> result<logged_delivery> {
        see_one_state(tx);
        const auto rows = tx.exec_prepared("log_find", account.text(), webhook.text(),
                                           past_every_event, 1, event.text());
        auto found = read_deliveries(rows, rows.size(), webhook);
        if (found.empty())
            return no_such_delivery(event, webhook);
        add_attempts(tx, account, webhook, found);
        return std::move(found.front());
    });
}

awaitable<std::vector<daily_count>> delivery_repository::count_deliveries(account_id account,
                                                                          int days)
{
    return postgres::list_daily_counts(db_, count_by_day, account, days);
}

awaitable<std::vector<result<delivery_repository::routing>>>
delivery_repository::find_routings(std::vector<std::pair<account_id, event_id>> emails)
{
    return postgres::read_each<routing>(
        db_, std::move(emails), read_routings, "The routing cannot be read",
        [](const std::pair<account_id, event_id>& email) { return email.second.text(); });
}

awaitable<email_deliveries> delivery_repository::find_email_deliveries(account_id account,
                                                                       event_id email)
{
    return postgres::run_autocommit<email_deliveries>(
        db_, [account, email](pqxx::nontransaction& tx) {
            return read_email_deliveries(tx, account, email);
        });
}

awaitable<result<taken_delivery>>
delivery_repository::begin_test(new_event event, webhook_id webhook, int attempts, uuid lease)
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

awaitable<result<taken_delivery>> delivery_repository::take(account_id account, webhook_id webhook,
                                                            event_id event, uuid lease_id)
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

awaitable<void> delivery_repository::finish(manual_attempt attempt)
{
    return db_.transact([attempt = std::move(attempt)](pqxx::work& tx) {
        tx.exec_prepared0(finish_manual.name, attempt.event.text(), attempt.webhook.text(),
                          attempt.account.text(), attempt.lease.text(), attempt.was_finished,
                          attempt.has_succeeded, attempt.number, to_unix_micros(attempt.at),
                          attempt.took.count(), attempt.status, attempt.error,
                          attempt.response_body);
    });
}

awaitable<int> delivery_repository::purge_limits()
{
    return db_.transact([](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_limits_sql.name).affected_rows());
    });
}

awaitable<result<std::int64_t>> delivery_repository::begin_replay(replay_params params)
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

awaitable<replay_step> delivery_repository::step_due_replay()
{
    return db_.transact([](pqxx::work& tx) {
        return step_replay(tx, tx.exec_prepared("replay_take_due_step", max_waiting));
    });
}

awaitable<replay_step> delivery_repository::step_replay_of(webhook_id webhook)
{
    return db_.transact([webhook](pqxx::work& tx) {
        return step_replay(tx,
                           tx.exec_prepared("replay_take_step_of", max_waiting, webhook.text()));
    });
}

awaitable<int> delivery_repository::purge_replays_older_than(int days)
{
    return db_.transact([days](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_replays.name, days).affected_rows());
    });
}

} // namespace tempinbox::webhooks
