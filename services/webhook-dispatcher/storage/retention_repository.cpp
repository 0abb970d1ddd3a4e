#include "webhook-dispatcher/storage/retention_repository.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::webhooks {
namespace {

using postgres::column;

// For locks that block nobody; those that matter are taken with NOWAIT.
constexpr const char* short_lock_wait = "SET LOCAL lock_timeout = '200ms'";

constexpr postgres::statement ensure_days{"retention_ensure_days", R"(
SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - $1::int,
    (now() AT TIME ZONE 'UTC')::date + $2::int),
    webhooks.ensure_feed_days((now() AT TIME ZONE 'UTC')::date,
        (now() AT TIME ZONE 'UTC')::date + $2::int))"};

constexpr postgres::statement are_days_missing{"retention_are_days_missing", R"(
SELECT EXISTS (
    SELECT 1 FROM unnest(ARRAY['events', 'deliveries', 'attempts', 'routings']) AS parent,
                  generate_series((now() AT TIME ZONE 'UTC')::date - $1::int,
                      (now() AT TIME ZONE 'UTC')::date + $2::int, interval '1 day') AS day
    WHERE to_regclass('webhooks.' || parent || '_' || to_char(day, 'YYYYMMDD')) IS NULL)
    OR EXISTS (SELECT 1 FROM generate_series((now() AT TIME ZONE 'UTC')::date,
            (now() AT TIME ZONE 'UTC')::date + $2::int, interval '1 day') AS day
        WHERE to_regclass('webhooks.feed_events_' || to_char(day, 'YYYYMMDD')) IS NULL)
    AS are_missing)"};

// What attaching a partition locks.
constexpr const char* lock_to_attach = R"(
LOCK TABLE ONLY webhooks.events, ONLY webhooks.deliveries, ONLY webhooks.attempts,
    ONLY webhooks.routings, ONLY webhooks.feed_events IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
LOCK TABLE webhooks.events_default, webhooks.deliveries_default, webhooks.attempts_default,
    webhooks.routings_default, webhooks.feed_events_default IN ACCESS EXCLUSIVE MODE NOWAIT)";

constexpr const char* take_partitions =
    "SELECT pg_try_advisory_xact_lock(hashtext('webhooks.partitions')) AS is_taken";

constexpr postgres::statement find_past_partition{"retention_find_past_partition", R"(
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = 'webhooks'::regnamespace AND c.relkind = 'r'
    AND c.relname ~ '^(events|deliveries|attempts|routings)_[0-9]{8}$'
  AND right(c.relname, 8) < to_char((now() AT TIME ZONE 'UTC')::date - $1::int, 'YYYYMMDD')
ORDER BY right(c.relname, 8), c.relname LIMIT 1)"};

// A partition of the feed goes once its end is 72 hours old.
constexpr postgres::statement find_past_feed_partition{"retention_find_past_feed_partition", R"(
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = 'webhooks'::regnamespace AND c.relkind = 'r'
    AND c.relname ~ '^feed_events_[0-9]{8}$'
    AND right(c.relname, 8) < to_char((now() AT TIME ZONE 'UTC')::date - 3, 'YYYYMMDD')
ORDER BY c.relname LIMIT 1)"};

constexpr postgres::statement purge_feed_default{"retention_purge_feed_default", R"(
DELETE FROM webhooks.feed_events_default
WHERE recorded_at < ((now() AT TIME ZONE 'UTC')::date - 3)::timestamp AT TIME ZONE 'UTC')"};

// The floor of a feed rises to its highest position before the partition that has it goes: else
// the positions of that partition would be given once more.
constexpr postgres::statement lock_low_floors{"retention_lock_low_floors", R"(
SELECT account_id FROM webhooks.feeds
WHERE position_at < ((now() AT TIME ZONE 'UTC')::date - 2)::timestamp AT TIME ZONE 'UTC'
ORDER BY account_id LIMIT $1 FOR UPDATE)"};
constexpr postgres::statement raise_floors{"retention_raise_floors", R"(
UPDATE webhooks.feeds AS f SET position_at = clock_timestamp(), last_position = greatest(
    f.last_position, (SELECT e.position FROM webhooks.feed_events AS e
        WHERE e.account_id = f.account_id AND e.recorded_at >= f.position_at
        ORDER BY e.position DESC LIMIT 1))
WHERE f.account_id = ANY ($1::uuid[]))"};

// Feeds that nobody has read for a week. The configuration changes first, as with every change.
constexpr postgres::statement find_unread_feeds{"retention_find_unread_feeds", R"(
SELECT v.account_id FROM webhooks.config_versions AS v
WHERE v.account_id IN (
    SELECT f.account_id FROM webhooks.feeds AS f
    WHERE f.is_recording AND f.read_at < clock_timestamp() - interval '7 days'
    ORDER BY f.account_id LIMIT $1)
ORDER BY v.account_id FOR UPDATE)"};
constexpr postgres::statement change_configs{"retention_change_configs", R"(
UPDATE webhooks.config_versions SET version = version + 1 WHERE account_id = ANY ($1::uuid[]))"};
constexpr postgres::statement end_recording{"retention_end_recording", R"(
WITH unread AS MATERIALIZED (
    SELECT account_id FROM webhooks.feeds WHERE account_id = ANY ($1::uuid[]) AND is_recording
        AND read_at < clock_timestamp() - interval '7 days' ORDER BY account_id FOR UPDATE)
UPDATE webhooks.feeds AS f SET is_recording = false FROM unread AS u
WHERE f.account_id = u.account_id)"};

// With no partition left, the old rows of the default ones go.
constexpr postgres::statement purge_defaults{"retention_purge_defaults", R"(
SELECT webhooks.purge_default_partitions((now() AT TIME ZONE 'UTC')::date - $1::int))"};

constexpr postgres::statement purge_secrets{"retention_purge_secrets", R"(
DELETE FROM webhooks.previous_secrets WHERE valid_until <= now())"};

// Waits until other processes have finished what they had under way for these accounts.
constexpr postgres::statement deleted_accounts{"retention_deleted_accounts", R"(
SELECT account_id FROM webhooks.deleted_accounts
WHERE deleted_at < clock_timestamp() - interval '1 minute' ORDER BY deleted_at LIMIT $1
    FOR UPDATE SKIP LOCKED)"};

// Each deletes about $2 rows of the account $1.
constexpr postgres::statement purge_due{"retention_purge_due", R"(
DELETE FROM webhooks.due_deliveries WHERE (account_id, webhook_id, event_id) IN (
    SELECT account_id, webhook_id, event_id FROM webhooks.due_deliveries
        WHERE account_id = $1::uuid LIMIT $2 FOR UPDATE SKIP LOCKED))"};

// A part of the key, from its beginning to the last row of a page.
constexpr postgres::statement purge_attempts{"retention_purge_attempts", R"(
WITH page AS MATERIALIZED (
    SELECT event_id FROM webhooks.attempts WHERE account_id = $1::uuid ORDER BY event_id LIMIT $2)
DELETE FROM webhooks.attempts WHERE account_id = $1::uuid
    AND event_id <= (SELECT event_id FROM page ORDER BY event_id DESC LIMIT 1))"};
constexpr postgres::statement purge_deliveries{"retention_purge_deliveries", R"(
WITH page AS MATERIALIZED (
    SELECT webhook_id, event_id FROM webhooks.deliveries WHERE account_id = $1::uuid
        ORDER BY webhook_id, event_id LIMIT $2)
DELETE FROM webhooks.deliveries WHERE account_id = $1::uuid AND (webhook_id, event_id)
    <= (SELECT webhook_id, event_id FROM page ORDER BY webhook_id DESC, event_id DESC LIMIT 1))"};
constexpr postgres::statement purge_events{"retention_purge_events", R"(
WITH page AS MATERIALIZED (
    SELECT event_id FROM webhooks.events WHERE account_id = $1::uuid ORDER BY event_id LIMIT $2)
DELETE FROM webhooks.events WHERE account_id = $1::uuid
    AND event_id <= (SELECT event_id FROM page ORDER BY event_id DESC LIMIT 1))"};
constexpr postgres::statement purge_routings{"retention_purge_routings", R"(
WITH page AS MATERIALIZED (
    SELECT event_id FROM webhooks.routings WHERE account_id = $1::uuid ORDER BY event_id LIMIT $2)
DELETE FROM webhooks.routings WHERE account_id = $1::uuid
    AND event_id <= (SELECT event_id FROM page ORDER BY event_id DESC LIMIT 1))"};

constexpr postgres::statement purge_feed_events{"retention_purge_feed_events", R"(
WITH page AS MATERIALIZED (
    SELECT position FROM webhooks.feed_events WHERE account_id = $1::uuid ORDER BY position LIMIT $2)
DELETE FROM webhooks.feed_events WHERE account_id = $1::uuid
    AND position <= (SELECT position FROM page ORDER BY position DESC LIMIT 1))"};

constexpr postgres::statement purge_account{
    "retention_purge_account", "DELETE FROM webhooks.deleted_accounts WHERE account_id = $1::uuid"};

constexpr int accounts_a_step = 100;
constexpr int rows_a_step = 2'000;
constexpr int feeds_a_step = 500;

std::vector<account_id> accounts_of(const pqxx::result& rows)
{
    std::vector<account_id> accounts;
    accounts.reserve(postgres::row_count(rows));
    for (const auto& row : rows)
        accounts.push_back(column<account_id>(row, "account_id"));
    return accounts;
}

// Whether nothing of the account is left. Deletes `rows` of it at most, but for attempts of one
// event, and lowers `rows` by what it deleted.
bool purge_some(pqxx::work& tx, const std::string& account, int& rows)
{
    for (const auto* purge : {purge_due.name, purge_attempts.name, purge_deliveries.name,
                              purge_events.name, purge_routings.name, purge_feed_events.name}) {
        rows -= static_cast<int>(postgres::exec_prepared(tx, purge, account, rows).affected_rows());
        if (rows <= 0)
            return false;
    }
    return true;
}

// Takes all locks that DROP would wait for.
void drop_partition(pqxx::work& tx, const std::string& name)
{
    const auto parent = "webhooks." + name.substr(0, name.rfind('_'));
    const auto table = "webhooks." + tx.quote_name(name);
    tx.exec0("LOCK TABLE ONLY " + parent + ", ONLY " + parent + "_default, ONLY " + table +
             " IN ACCESS EXCLUSIVE MODE NOWAIT");
    tx.exec0("DROP TABLE " + table);
}

} // namespace

retention_repository::retention_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {ensure_days,         are_days_missing,
                                  find_past_partition, purge_defaults,
                                  purge_secrets,       deleted_accounts,
                                  purge_due,           purge_attempts,
                                  purge_deliveries,    purge_events,
                                  purge_routings,      purge_feed_events,
                                  purge_account,       find_past_feed_partition,
                                  purge_feed_default,  lock_low_floors,
                                  raise_floors,        find_unread_feeds,
                                  change_configs,      end_recording})
        db_.prepare(statement);
}

awaitable<void> retention_repository::make_partitions(int back, int ahead)
{
    return db_.transact([back, ahead](pqxx::work& tx) {
        // Another process that holds the lock makes them.
        if (!column<bool>(postgres::exec_prepared1(tx, are_days_missing.name, back, ahead),
                          "are_missing") ||
            !column<bool>(tx.exec1(take_partitions), "is_taken"))
            return;
        tx.exec0(short_lock_wait);
        tx.exec0(lock_to_attach);
        postgres::exec_prepared(tx, ensure_days.name, back, ahead);
    });
}

awaitable<bool> retention_repository::drop_partition_older_than(int days)
{
    return db_.transact([days](pqxx::work& tx) {
        if (!column<bool>(tx.exec1(take_partitions), "is_taken"))
            return false;
        tx.exec0(short_lock_wait);
        const auto past = postgres::exec_prepared(tx, find_past_partition.name, days);
        if (past.empty()) {
            postgres::exec_prepared(tx, purge_defaults.name, days);
            return false;
        }
        drop_partition(tx, column<std::string>(past[0], "relname"));
        return true;
    });
}

awaitable<bool> retention_repository::drop_feed_partition()
{
    return db_.transact([](pqxx::work& tx) {
        if (!column<bool>(tx.exec1(take_partitions), "is_taken"))
            return false;
        tx.exec0(short_lock_wait);
        const auto past = postgres::exec_prepared(tx, find_past_feed_partition.name);
        if (past.empty()) {
            postgres::exec_prepared0(tx, purge_feed_default.name);
            return false;
        }
        drop_partition(tx, column<std::string>(past[0], "relname"));
        return true;
    });
}

awaitable<bool> retention_repository::raise_feed_floors()
{
    return db_.transact([](pqxx::work& tx) {
        const auto low =
            accounts_of(postgres::exec_prepared(tx, lock_low_floors.name, feeds_a_step));
        // A statement of its own: it sees what was committed before the locks were held.
        if (!low.empty())
            postgres::exec_prepared0(tx, raise_floors.name, postgres::to_array(low));
        return !low.empty();
    });
}

awaitable<bool> retention_repository::end_unread_feeds()
{
    return db_.transact([](pqxx::work& tx) {
        const auto unread =
            accounts_of(postgres::exec_prepared(tx, find_unread_feeds.name, feeds_a_step));
        if (unread.empty())
            return false;
        postgres::exec_prepared0(tx, change_configs.name, postgres::to_array(unread));
        postgres::exec_prepared0(tx, end_recording.name, postgres::to_array(unread));
        return true;
    });
}

awaitable<std::vector<postgres::partitioned_table>> retention_repository::partitions()
{
    return postgres::read_partitioned_tables(db_, {"webhooks"});
}

awaitable<void> retention_repository::purge_ended_secrets()
{
    return db_.transact([](pqxx::work& tx) { postgres::exec_prepared(tx, purge_secrets.name); });
}

awaitable<bool> retention_repository::purge_deleted_accounts()
{
    return db_.transact([](pqxx::work& tx) {
        const auto accounts = postgres::exec_prepared(tx, deleted_accounts.name, accounts_a_step);
        int rows = rows_a_step;
        for (const auto& row : accounts) {
            const auto account = column<std::string>(row, "account_id");
            if (!purge_some(tx, account, rows))
                break;
            postgres::exec_prepared0(tx, purge_account.name, account);
        }
        return !accounts.empty();
    });
}

} // namespace tempinbox::webhooks
