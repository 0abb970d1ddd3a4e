#include "webhook-dispatcher/storage/retention_repository.hpp"

#include "common/core/text.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <optional>

namespace tempinbox::webhooks {
namespace {

using postgres::column;

// For locks that block nobody; those that matter are taken with NOWAIT.
constexpr const char* short_lock_wait = "SET LOCAL lock_timeout = '200ms'";

constexpr postgres::statement ensure_days{"retention_ensure_days", R"(
SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - $1::int,
    (now() AT TIME ZONE 'UTC')::date + $2::int))"};

constexpr postgres::statement are_days_missing{"retention_are_days_missing", R"(
SELECT EXISTS (
    SELECT 1 FROM unnest(ARRAY['events', 'deliveries', 'attempts', 'routings']) AS parent,
                  generate_series((now() AT TIME ZONE 'UTC')::date - $1::int,
                      (now() AT TIME ZONE 'UTC')::date + $2::int, interval '1 day') AS day
    WHERE to_regclass('webhooks.' || parent || '_' || to_char(day, 'YYYYMMDD')) IS NULL) AS are_missing)"};

// What attaching a partition locks.
constexpr const char* lock_to_attach = R"(
LOCK TABLE ONLY webhooks.events, ONLY webhooks.deliveries, ONLY webhooks.attempts,
    ONLY webhooks.routings IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
LOCK TABLE webhooks.events_default, webhooks.deliveries_default, webhooks.attempts_default,
    webhooks.routings_default IN ACCESS EXCLUSIVE MODE NOWAIT)";

constexpr const char* take_partitions =
    "SELECT pg_try_advisory_xact_lock(hashtext('webhooks.partitions')) AS is_taken";

constexpr postgres::statement find_past_partition{"retention_find_past_partition", R"(
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = 'webhooks'::regnamespace AND c.relkind = 'r'
    AND c.relname ~ '^(events|deliveries|attempts|routings)_[0-9]{8}$'
  AND right(c.relname, 8) < to_char((now() AT TIME ZONE 'UTC')::date - $1::int, 'YYYYMMDD')
ORDER BY right(c.relname, 8), c.relname LIMIT 1)"};

// With no partition left, the old rows of the default ones go.
constexpr postgres::statement purge_defaults{"retention_purge_defaults", R"(
SELECT webhooks.purge_default_partitions((now() AT TIME ZONE 'UTC')::date - $1::int))"};

constexpr postgres::statement purge_secrets{"retention_purge_secrets", R"(
DELETE FROM webhooks.previous_secrets WHERE valid_until <= now())"};

// Waits until other processes have finished what they had under way for these accounts.
constexpr postgres::statement deleted_accounts{"retention_deleted_accounts", R"(
SELECT account_id, array_to_string(webhook_ids, ',') AS webhook_ids, event_position,
    routing_position
    FROM webhooks.deleted_accounts
WHERE deleted_at < clock_timestamp() - interval '1 minute' ORDER BY deleted_at LIMIT 1000
    FOR UPDATE SKIP LOCKED)"};

constexpr postgres::statement purge_due{"retention_purge_due", R"(
DELETE FROM webhooks.due_deliveries WHERE (webhook_id, event_id) IN (
    SELECT webhook_id, event_id FROM webhooks.due_deliveries WHERE webhook_id = ANY ($1::uuid[])
        LIMIT $2 FOR UPDATE SKIP LOCKED))"};

// There is no index on the account, since every stored event would pay for it: a page of the
// primary key is scanned instead.
constexpr postgres::statement event_page{"retention_event_page", R"(
SELECT event_id, account_id = ANY ($1::uuid[]) AS is_of_accounts FROM webhooks.events
WHERE event_id > $2::uuid ORDER BY event_id LIMIT $3)"};
constexpr postgres::statement routing_page{"retention_routing_page", R"(
SELECT event_id, account_id = ANY ($1::uuid[]) AS is_of_accounts FROM webhooks.routings
WHERE event_id > $2::uuid ORDER BY event_id LIMIT $3)"};

constexpr postgres::statement purge_attempts{
    "retention_purge_attempts", "DELETE FROM webhooks.attempts WHERE event_id = ANY ($1::uuid[])"};
constexpr postgres::statement purge_deliveries{
    "retention_purge_deliveries",
    "DELETE FROM webhooks.deliveries WHERE event_id = ANY ($1::uuid[])"};
constexpr postgres::statement purge_events{
    "retention_purge_events", "DELETE FROM webhooks.events WHERE event_id = ANY ($1::uuid[])"};
constexpr postgres::statement purge_routings{
    "retention_purge_routings", "DELETE FROM webhooks.routings WHERE event_id = ANY ($1::uuid[])"};

constexpr postgres::statement note_event_position{
    "retention_note_event_position", "UPDATE webhooks.deleted_accounts SET event_position = "
                                     "$2::uuid WHERE account_id = ANY ($1::uuid[])"};
constexpr postgres::statement note_routing_position{
    "retention_note_routing_position", "UPDATE webhooks.deleted_accounts SET routing_position = "
                                       "$2::uuid WHERE account_id = ANY ($1::uuid[])"};
constexpr postgres::statement purge_accounts{
    "retention_purge_accounts",
    "DELETE FROM webhooks.deleted_accounts WHERE account_id = ANY ($1::uuid[])"};

constexpr int rows_a_step = 2'000;

// Accounts whose purge is at the same position: they continue together.
struct deleted_batch
{
    std::vector<account_id> accounts;
    std::vector<webhook_id> webhooks;
    std::string event_position;
    std::string routing_position;
};

std::optional<deleted_batch> take_deleted(pqxx::work& tx)
{
    const auto rows = postgres::exec_prepared(tx, deleted_accounts.name);
    if (rows.empty())
        return std::nullopt;
    deleted_batch batch;
    batch.event_position = column<std::string>(rows[0], "event_position");
    batch.routing_position = column<std::string>(rows[0], "routing_position");
    for (const auto& row : rows) {
        if (column<std::string>(row, "event_position") != batch.event_position ||
            column<std::string>(row, "routing_position") != batch.routing_position)
            continue;
        batch.accounts.push_back(column<account_id>(row, "account_id"));
        for (const auto& webhook : split_list(column<std::string>(row, "webhook_ids")))
            batch.webhooks.push_back(webhook_id::parse(webhook).value());
    }
    return batch;
}

// The events of a page that belong to the accounts, and the page's last event.
struct scanned_page
{
    std::vector<event_id> events;
    std::string last; // empty if there was none
};

scanned_page scan(pqxx::work& tx, const postgres::statement& page,
                  const pqxx::binarystring& accounts, const std::string& position)
{
    scanned_page scanned;
    for (const auto& row :
         postgres::exec_prepared(tx, page.name, accounts, position, rows_a_step)) {
        scanned.last = column<std::string>(row, "event_id");
        if (column<bool>(row, "is_of_accounts"))
            scanned.events.push_back(event_id::parse(scanned.last).value());
    }
    return scanned;
}

bool purge_some_events(pqxx::work& tx, const deleted_batch& batch)
{
    const auto accounts = postgres::to_array(batch.accounts);
    const auto page = scan(tx, event_page, accounts, batch.event_position);
    if (page.last.empty())
        return false;
    const auto events = postgres::to_array(page.events);
    for (const auto* purge : {purge_attempts.name, purge_deliveries.name, purge_events.name})
        postgres::exec_prepared0(tx, purge, events);
    postgres::exec_prepared0(tx, note_event_position.name, accounts, page.last);
    return true;
}

bool purge_some_routings(pqxx::work& tx, const deleted_batch& batch)
{
    const auto accounts = postgres::to_array(batch.accounts);
    const auto page = scan(tx, routing_page, accounts, batch.routing_position);
    if (page.last.empty())
        return false;
    postgres::exec_prepared0(tx, purge_routings.name, postgres::to_array(page.events));
    postgres::exec_prepared0(tx, note_routing_position.name, accounts, page.last);
    return true;
}

} // namespace

retention_repository::retention_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {ensure_days, are_days_missing, find_past_partition, purge_defaults, purge_secrets,
          deleted_accounts, purge_due, event_page, routing_page, purge_attempts, purge_deliveries,
          purge_events, purge_routings, note_event_position, note_routing_position, purge_accounts})
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
        // Takes all locks that DROP would wait for.
        const auto name = column<std::string>(past[0], "relname");
        const auto parent = "webhooks." + name.substr(0, name.find('_'));
        const auto table = "webhooks." + tx.quote_name(name);
        tx.exec0("LOCK TABLE ONLY " + parent + ", ONLY " + parent + "_default, ONLY " + table +
                 " IN ACCESS EXCLUSIVE MODE NOWAIT");
        tx.exec0("DROP TABLE " + table);
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
        const auto batch = take_deleted(tx);
        if (!batch)
            return false;
        const auto purged = postgres::exec_prepared(
            tx, purge_due.name, postgres::to_array(batch->webhooks), rows_a_step);
        const bool may_have_more = purged.affected_rows() != 0 || purge_some_events(tx, *batch) ||
                                   purge_some_routings(tx, *batch);
        if (!may_have_more)
            postgres::exec_prepared0(tx, purge_accounts.name, postgres::to_array(batch->accounts));
        return true;
    });
}

} // namespace tempinbox::webhooks
