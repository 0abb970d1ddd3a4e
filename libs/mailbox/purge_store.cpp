#include "mailbox/purge_store.hpp"

#include "common/postgres/binary_array.hpp"
#include "mailbox/body_removal_store.hpp"

#include <set>
#include <string>
#include <vector>

namespace tempinbox::mailbox {
namespace {

const std::string batch_limit = std::to_string(purge_store::batch_size);

constexpr postgres::statement claim_ended{"mailbox_claim_ended", R"(
    SELECT account_id, inbox_id, mailbox.to_micros(created_at), expiry_reason = 'ttl' FROM mailbox.inboxes WHERE has_mail_to_purge
    ORDER BY expired_at LIMIT 100 FOR UPDATE SKIP LOCKED)"};

// No email is older than the oldest of the inboxes; ten minutes allow for clocks that differ.
const std::string delete_emails_sql = R"(
    WITH doomed AS MATERIALIZED (
        SELECT e.account_id, e.email_id, ended.is_by_time
        FROM unnest($1::uuid[], $2::uuid[], $4::boolean[]) AS ended (account_id, inbox_id, is_by_time)
            JOIN mailbox.emails AS e ON e.account_id = ended.account_id AND e.inbox_id = ended.inbox_id
        WHERE e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
        LIMIT )" + batch_limit + R"()
    DELETE FROM mailbox.emails AS e USING doomed
    WHERE e.account_id = doomed.account_id AND e.email_id = doomed.email_id
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
    RETURNING mailbox.to_micros(e.body_hour), e.body_id, e.is_body_shared, doomed.is_by_time)";
const postgres::statement delete_emails{"mailbox_delete_emails", delete_emails_sql.c_str()};

// The hours that have come and whose partition will be dropped as a whole. Bodies of later hours
// are deleted, since they would stay too long; so are those without a partition, which no drop
// removes.
constexpr postgres::statement find_dropped_hours{"mailbox_find_dropped_hours", R"(
    SELECT hour FROM unnest($1::bigint[]) AS hour
    WHERE mailbox.from_micros(hour) <= now()
        AND to_regclass('mailbox.bodies_' || to_char(mailbox.from_micros(hour) AT TIME ZONE 'UTC', 'YYYYMMDD_HH24')) IS NOT NULL)"};

constexpr postgres::statement mark_purged{"mailbox_mark_purged", R"(
    UPDATE mailbox.inboxes AS i SET has_mail_to_purge = false, email_count = 0, email_bytes = 0
    FROM unnest($1::uuid[], $2::uuid[]) AS ended (account_id, inbox_id)
    WHERE i.account_id = ended.account_id AND i.inbox_id = ended.inbox_id)"};

const std::string purge_ended_sql = R"(
    DELETE FROM mailbox.inboxes AS i
    USING (SELECT account_id, inbox_id FROM mailbox.inboxes
           WHERE NOT is_live AND NOT has_mail_to_purge AND expired_at < now() - make_interval(secs => $1::bigint)
           ORDER BY expired_at LIMIT )" +
                                    batch_limit + R"( FOR UPDATE SKIP LOCKED) AS ended
    WHERE i.account_id = ended.account_id AND i.inbox_id = ended.inbox_id)";
const postgres::statement purge_ended{"mailbox_forget_ended", purge_ended_sql.c_str()};

const std::string free_addresses_sql = R"(
    DELETE FROM mailbox.addresses AS a
    USING (SELECT address FROM mailbox.addresses WHERE state = 'quarantined' AND until <= now()
           ORDER BY until LIMIT )" + batch_limit +
                                       R"( FOR UPDATE SKIP LOCKED) AS free
    WHERE a.address = free.address)";
const postgres::statement free_addresses{"mailbox_free_addresses", free_addresses_sql.c_str()};

// The bodies to delete one by one.
std::vector<left_body> not_left_to_partitions(pqxx::work& tx, const pqxx::result& deleted)
{
    std::set<std::int64_t> hours;
    for (const auto& row : deleted)
        if (row[3].as<bool>())
            hours.insert(row[0].as<std::int64_t>());
    std::set<std::int64_t> dropped;
    if (!hours.empty())
        for (const auto& row : tx.exec_prepared(
                 find_dropped_hours.name,
                 postgres::to_array(std::vector<std::int64_t>(hours.begin(), hours.end()))))
            dropped.insert(row[0].as<std::int64_t>());

    auto left = read_left_bodies(deleted);
    std::vector<left_body> chosen;
    for (std::size_t i = 0; i < left.size(); ++i)
        if (!deleted[static_cast<pqxx::result::size_type>(i)][3].as<bool>() ||
            !dropped.contains(left[i].hour))
            chosen.push_back(left[i]);
    return chosen;
}

purge_batch purge_in(pqxx::work& tx)
{
    purge_batch batch;
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    std::vector<bool> by_time;
    std::int64_t oldest = to_unix_micros(endless);
    for (const auto& row : tx.exec_prepared(claim_ended.name)) {
        accounts.push_back(account_id::parse(row[0].c_str()).value());
        ids.push_back(inbox_id::parse(row[1].c_str()).value());
        oldest = std::min(oldest, row[2].as<std::int64_t>());
        by_time.push_back(row[3].as<bool>());
    }
    if (ids.empty())
        return batch;

    const auto deleted =
        tx.exec_prepared(delete_emails.name, postgres::to_array(accounts), postgres::to_array(ids),
                         oldest, postgres::to_array(by_time));
    batch.emails = static_cast<std::int64_t>(deleted.size());
    batch.bodies = remove_bodies(tx, not_left_to_partitions(tx, deleted));

    // No emails are left: the inboxes are done.
    if (batch.emails < purge_store::batch_size) {
        tx.exec_prepared(mark_purged.name, postgres::to_array(accounts), postgres::to_array(ids));
        batch.inboxes = static_cast<std::int64_t>(ids.size());
    }
    batch.is_full = batch.emails == purge_store::batch_size || ids.size() == 100;
    return batch;
}

} // namespace

purge_store::purge_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {claim_ended, delete_emails, find_dropped_hours, mark_purged, purge_ended, free_addresses})
        db_.prepare(statement);
}

awaitable<purge_batch> purge_store::purge_mail()
{
    return db_.transact([](pqxx::work& tx) { return purge_in(tx); });
}

awaitable<purge_batch> purge_store::purge_inboxes(std::chrono::seconds retention)
{
    return db_.transact([retention](pqxx::work& tx) {
        const auto inboxes =
            tx.exec_prepared(purge_ended.name, static_cast<std::int64_t>(retention.count()))
                .affected_rows();
        const auto addresses = tx.exec_prepared(free_addresses.name).affected_rows();
        purge_batch batch;
        batch.inboxes = static_cast<std::int64_t>(inboxes);
        batch.is_full = std::max(inboxes, addresses) == static_cast<std::size_t>(batch_size);
        return batch;
    });
}

} // namespace tempinbox::mailbox
