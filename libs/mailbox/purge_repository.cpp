#include "mailbox/purge_repository.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/attempt_repository.hpp"
#include "mailbox/body_removal.hpp"
#include "mailbox/inbox_events.hpp"

#include <algorithm>
#include <set>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

const std::string batch_limit = std::to_string(purge_repository::batch_size);

constexpr postgres::statement claim_ended{"mailbox_claim_ended", R"(
    SELECT account_id, inbox_id, mailbox.to_micros(created_at) AS created_micros,
           expiry_reason = 'ttl' AS is_by_time
    FROM mailbox.inboxes WHERE has_mail_to_purge
    ORDER BY expired_at LIMIT 100 FOR UPDATE SKIP LOCKED)"};

// No email is older than the oldest of the inboxes; ten minutes allow for clocks that differ.
const std::string delete_emails_sql = R"(
    WITH doomed AS MATERIALIZED (
        SELECT e.account_id, e.email_id, ended.is_by_time
        FROM unnest($1::uuid[], $2::uuid[], $4::boolean[])
                AS ended (account_id, inbox_id, is_by_time)
            JOIN mailbox.emails AS e
                ON e.account_id = ended.account_id AND e.inbox_id = ended.inbox_id
        WHERE e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
        LIMIT )" + batch_limit + R"()
    DELETE FROM mailbox.emails AS e USING doomed
    WHERE e.account_id = doomed.account_id AND e.email_id = doomed.email_id
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
    RETURNING mailbox.to_micros(e.body_hour) AS body_micros, e.body_id, e.is_body_shared,
        doomed.is_by_time)";
const postgres::statement delete_emails{"mailbox_delete_emails", delete_emails_sql.c_str()};

// The hours that have come and whose partition will be dropped as a whole. Bodies of later hours
// are deleted, since they would stay too long; so are those without a partition, which no drop
// removes.
constexpr postgres::statement find_dropped_hours{"mailbox_find_dropped_hours", R"(
    SELECT hour FROM unnest($1::bigint[]) AS hour
    WHERE mailbox.from_micros(hour) <= now()
        AND to_regclass('mailbox.bodies_' || to_char(
            mailbox.from_micros(hour) AT TIME ZONE 'UTC', 'YYYYMMDD_HH24')) IS NOT NULL)"};

constexpr postgres::statement mark_purged{"mailbox_mark_purged", R"(
    UPDATE mailbox.inboxes AS i SET has_mail_to_purge = false, email_count = 0, email_bytes = 0
    FROM unnest($1::uuid[], $2::uuid[]) AS ended (account_id, inbox_id)
    WHERE i.account_id = ended.account_id AND i.inbox_id = ended.inbox_id)"};

const std::string purge_ended_sql = R"(
    DELETE FROM mailbox.inboxes AS i
    USING (SELECT account_id, inbox_id FROM mailbox.inboxes
           WHERE NOT is_live AND NOT has_mail_to_purge
               AND expired_at < now() - make_interval(secs => $1::bigint)
           ORDER BY expired_at LIMIT )" +
                                    batch_limit + R"( FOR UPDATE SKIP LOCKED) AS ended
    WHERE i.account_id = ended.account_id AND i.inbox_id = ended.inbox_id
    RETURNING i.account_id, i.inbox_id, i.state_version)";
const postgres::statement purge_ended{"mailbox_purge_ended", purge_ended_sql.c_str()};

const std::string free_addresses_sql = R"(
    DELETE FROM mailbox.addresses AS a
    USING (SELECT address FROM mailbox.addresses
           WHERE state = 'quarantined' AND until <= now()
           ORDER BY until LIMIT )" + batch_limit +
                                       R"( FOR UPDATE SKIP LOCKED) AS free
    WHERE a.address = free.address)";
const postgres::statement free_addresses{"mailbox_free_addresses", free_addresses_sql.c_str()};

const std::string free_subdomains_sql = R"(
    DELETE FROM mailbox.subdomains AS s
    USING (SELECT account_id, domain FROM mailbox.subdomains
           WHERE live_inboxes = 0 AND until <= now()
           ORDER BY until LIMIT )" + batch_limit +
                                        R"( FOR UPDATE SKIP LOCKED) AS free
    WHERE s.account_id = free.account_id AND s.domain = free.domain)";
const postgres::statement free_subdomains{"mailbox_free_subdomains", free_subdomains_sql.c_str()};

const std::string purge_rejections_sql = R"(
    DELETE FROM mailbox.rejections AS r
    USING (SELECT account_id, inbox_id, reason, mail_from FROM mailbox.rejections
           WHERE last_at < now() - interval '24 hours'
           ORDER BY last_at LIMIT )" + batch_limit +
                                         R"( FOR UPDATE SKIP LOCKED) AS old
    WHERE r.account_id = old.account_id AND r.inbox_id = old.inbox_id
        AND r.reason = old.reason AND r.mail_from = old.mail_from)";
const postgres::statement purge_rejections{"mailbox_purge_rejections",
                                           purge_rejections_sql.c_str()};

const std::string purge_attempts_sql = R"(
    DELETE FROM mailbox.attempts AS a
    USING (SELECT account_id, inbox_id, attempt_id FROM mailbox.attempts
           WHERE at < now() - make_interval(hours => )" +
                                       std::to_string(attempt_repository::retention.count()) +
                                       R"()
           ORDER BY at LIMIT )" + batch_limit +
                                       R"( FOR UPDATE SKIP LOCKED) AS old
    WHERE a.account_id = old.account_id AND a.inbox_id = old.inbox_id
        AND a.attempt_id = old.attempt_id)";
const postgres::statement purge_attempts{"mailbox_purge_attempts", purge_attempts_sql.c_str()};

constexpr postgres::statement purge_logins{"mailbox_purge_logins", R"(
    DELETE FROM mailbox.capture_logins AS l
    USING unnest($1::uuid[], $2::uuid[]) AS purged (account_id, inbox_id)
    WHERE l.account_id = purged.account_id AND l.inbox_id = purged.inbox_id
        AND l.revoked_at IS NOT NULL)"};

constexpr postgres::statement purge_end_notices{"mailbox_purge_end_notices", R"(
    DELETE FROM mailbox.end_notices AS n
    USING unnest($1::uuid[], $2::uuid[]) AS purged (account_id, inbox_id)
    WHERE n.account_id = purged.account_id AND n.inbox_id = purged.inbox_id)"};

// Faults are played, and attempts shown, while an inbox is live; both go with its mail, or with the
// inbox that had none.
constexpr postgres::statement purge_faults{"mailbox_purge_faults", R"(
    WITH ended AS MATERIALIZED (
        SELECT account_id, inbox_id FROM unnest($1::uuid[], $2::uuid[]) AS e (account_id, inbox_id)),
    sets AS (
        DELETE FROM mailbox.fault_sets AS s USING ended
        WHERE s.account_id = ended.account_id AND s.inbox_id = ended.inbox_id),
    attempts AS (
        DELETE FROM mailbox.attempts AS a USING ended
        WHERE a.account_id = ended.account_id AND a.inbox_id = ended.inbox_id)
    DELETE FROM mailbox.fault_counts AS c USING ended
    WHERE c.account_id = ended.account_id AND c.inbox_id = ended.inbox_id)"};

// The bodies to delete one by one.
std::vector<left_body> not_left_to_partitions(pqxx::work& tx, const pqxx::result& deleted)
{
    std::set<std::int64_t> hours;
    for (const auto& row : deleted)
        if (column<bool>(row, "is_by_time"))
            hours.insert(column<std::int64_t>(row, "body_micros"));
    std::set<std::int64_t> dropped;
    if (!hours.empty())
        for (const auto& row : postgres::exec_prepared(
                 tx, find_dropped_hours.name,
                 postgres::to_array(std::vector<std::int64_t>(hours.begin(), hours.end()))))
            dropped.insert(column<std::int64_t>(row, "hour"));

    auto left = read_left_bodies(deleted);
    std::vector<left_body> to_delete;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const auto row = deleted[static_cast<pqxx::result::size_type>(i)];
        if (!column<bool>(row, "is_by_time") || !dropped.contains(left[i].hour))
            to_delete.push_back(left[i]);
    }
    return to_delete;
}

purge_batch purge_in(pqxx::work& tx)
{
    purge_batch batch;
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    std::vector<bool> by_time;
    std::int64_t oldest = to_unix_micros(endless);
    for (const auto& row : postgres::exec_prepared(tx, claim_ended.name)) {
        accounts.push_back(column<account_id>(row, "account_id"));
        ids.push_back(column<inbox_id>(row, "inbox_id"));
        oldest = std::min(oldest, column<std::int64_t>(row, "created_micros"));
        by_time.push_back(column<bool>(row, "is_by_time"));
    }
    if (ids.empty())
        return batch;

    const auto deleted =
        postgres::exec_prepared(tx, delete_emails.name, postgres::to_array(accounts),
                                postgres::to_array(ids), oldest, postgres::to_array(by_time));
    batch.emails = static_cast<std::int64_t>(deleted.size());
    batch.bodies = remove_bodies(tx, not_left_to_partitions(tx, deleted));

    // No emails are left: the inboxes are done.
    if (batch.emails < purge_repository::batch_size) {
        postgres::exec_prepared(tx, mark_purged.name, postgres::to_array(accounts),
                                postgres::to_array(ids));
        postgres::exec_prepared0(tx, purge_faults.name, postgres::to_array(accounts),
                                 postgres::to_array(ids));
        batch.inboxes = static_cast<std::int64_t>(ids.size());
    }
    batch.is_full = batch.emails == purge_repository::batch_size || ids.size() == 100;
    return batch;
}

} // namespace

purge_repository::purge_repository(postgres::pool& db, std::string outbox_owner)
    : db_(db),
      outbox_owner_(std::move(outbox_owner))
{
    for (const auto& statement : {claim_ended, delete_emails, find_dropped_hours, mark_purged,
                                  purge_ended, free_subdomains, free_addresses, purge_rejections,
                                  purge_attempts, purge_logins, purge_end_notices, purge_faults})
        db_.prepare(statement);
}

awaitable<purge_batch> purge_repository::purge_mail()
{
    return db_.transact([](pqxx::work& tx) { return purge_in(tx); });
}

awaitable<purge_batch> purge_repository::purge_inboxes(std::chrono::seconds retention)
{
    return db_.transact([retention, owner = outbox_owner_](pqxx::work& tx) {
        purge_batch batch;
        std::vector<account_id> accounts;
        std::vector<inbox_id> ids;
        for (const auto& row : postgres::exec_prepared(
                 tx, purge_ended.name, static_cast<std::int64_t>(retention.count()))) {
            accounts.push_back(column<account_id>(row, "account_id"));
            ids.push_back(column<inbox_id>(row, "inbox_id"));
            batch.events.push_back(make_state_tombstone(
                accounts.back(), ids.back(), column<std::int64_t>(row, "state_version")));
        }
        for (const auto& purge : {purge_logins, purge_faults, purge_end_notices})
            postgres::exec_prepared0(tx, purge.name, postgres::to_array(accounts),
                                     postgres::to_array(ids));
        outbox::insert(tx, schema, owner, batch.events);
        const auto inboxes = batch.events.size();
        const auto subdomains =
            postgres::written_rows(postgres::exec_prepared(tx, free_subdomains.name));
        const auto addresses =
            postgres::written_rows(postgres::exec_prepared(tx, free_addresses.name));
        const auto rejections =
            postgres::written_rows(postgres::exec_prepared(tx, purge_rejections.name));
        const auto attempts =
            postgres::written_rows(postgres::exec_prepared(tx, purge_attempts.name));
        batch.inboxes = static_cast<std::int64_t>(inboxes);
        batch.is_full = std::max({inboxes, subdomains, addresses, rejections, attempts}) ==
                        static_cast<std::size_t>(batch_size);
        return batch;
    });
}

} // namespace tempinbox::mailbox
