#include "mailbox/purge_store.hpp"

#include "common/postgres/parameters.hpp"
#include "mailbox/columns.hpp"

#include <map>
#include <string>
#include <vector>

namespace tempinbox::mailbox {
namespace {

const std::string batch_limit = std::to_string(purge_store::batch_size);

constexpr postgres::statement claim_ended{"mailbox_claim_ended", R"(
    SELECT account_id, inbox_id, mailbox.to_micros(created_at) FROM mailbox.inboxes WHERE has_mail_to_purge
    ORDER BY expired_at LIMIT 100 FOR UPDATE SKIP LOCKED)"};

// No email is older than the oldest of the inboxes; ten minutes for clocks that differ.
const std::string delete_emails_sql = R"(
    WITH doomed AS MATERIALIZED (
        SELECT e.account_id, e.email_id
        FROM unnest($1::uuid[], $2::uuid[]) AS ended (account_id, inbox_id)
            JOIN mailbox.emails AS e ON e.account_id = ended.account_id AND e.inbox_id = ended.inbox_id
        WHERE e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
        LIMIT )" + batch_limit + R"()
    DELETE FROM mailbox.emails AS e USING doomed
    WHERE e.account_id = doomed.account_id AND e.email_id = doomed.email_id
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
    RETURNING mailbox.to_micros(e.body_hour), e.body_id, e.is_body_shared)";
const postgres::statement delete_emails{"mailbox_delete_emails", delete_emails_sql.c_str()};

constexpr postgres::statement mark_purged{"mailbox_mark_purged", R"(
    UPDATE mailbox.inboxes AS i SET has_mail_to_purge = false, email_count = 0, email_bytes = 0
    FROM unnest($1::uuid[], $2::uuid[]) AS ended (account_id, inbox_id)
    WHERE i.account_id = ended.account_id AND i.inbox_id = ended.inbox_id)"};

constexpr postgres::statement delete_bodies{"mailbox_delete_bodies", R"(
    DELETE FROM mailbox.bodies WHERE body_hour = mailbox.from_micros($1) AND body_id = ANY ($2::uuid[]))"};

// Whoever deletes the last email of a shared body deletes the body: the lock makes the later of two see what the earlier did.
constexpr postgres::statement lock_bodies{"mailbox_lock_bodies", R"(
    SELECT 1 FROM mailbox.bodies WHERE body_hour = mailbox.from_micros($1) AND body_id = ANY ($2::uuid[]) ORDER BY body_id FOR UPDATE)"};
constexpr postgres::statement delete_unused_bodies{"mailbox_delete_unused_bodies", R"(
    DELETE FROM mailbox.bodies AS b WHERE body_hour = mailbox.from_micros($1) AND body_id = ANY ($2::uuid[])
        AND NOT EXISTS (SELECT 1 FROM mailbox.emails AS e WHERE e.body_id = b.body_id AND e.is_body_shared))"};

const std::string forget_ended_sql = R"(
    DELETE FROM mailbox.inboxes AS i
    USING (SELECT account_id, inbox_id FROM mailbox.inboxes
           WHERE NOT is_live AND NOT has_mail_to_purge AND expired_at < now() - make_interval(secs => $1::bigint)
           ORDER BY expired_at LIMIT )" +
                                     batch_limit + R"( FOR UPDATE SKIP LOCKED) AS ended
    WHERE i.account_id = ended.account_id AND i.inbox_id = ended.inbox_id)";
const postgres::statement forget_ended{"mailbox_forget_ended", forget_ended_sql.c_str()};

const std::string free_addresses_sql = R"(
    DELETE FROM mailbox.addresses AS a
    USING (SELECT address FROM mailbox.addresses WHERE state = 'quarantined' AND until <= now()
           ORDER BY until LIMIT )" + batch_limit +
                                       R"( FOR UPDATE SKIP LOCKED) AS free
    WHERE a.address = free.address)";
const postgres::statement free_addresses{"mailbox_free_addresses", free_addresses_sql.c_str()};

// Body ids by the hour of their partition, so that each statement touches one; in order, as others lock them.
using bodies_by_hour = std::map<std::int64_t, std::vector<body_id>>;

std::int64_t delete_own_bodies(pqxx::work& tx, const bodies_by_hour& bodies)
{
    std::int64_t deleted = 0;
    for (const auto& [hour, ids] : bodies) {
        auto rows = tx.exec_prepared(delete_bodies.name, hour, to_id_array(ids)).affected_rows();
        // A body that was just moved into its new partition can be missed by one look, not by two.
        if (rows < ids.size())
            rows += tx.exec_prepared(delete_bodies.name, hour, to_id_array(ids)).affected_rows();
        deleted += static_cast<std::int64_t>(rows);
    }
    return deleted;
}

std::int64_t delete_shared_bodies(pqxx::work& tx, const bodies_by_hour& bodies)
{
    std::int64_t deleted = 0;
    for (const auto& [hour, ids] : bodies)
        tx.exec_prepared(lock_bodies.name, hour, to_id_array(ids));
    for (const auto& [hour, ids] : bodies)
        deleted += static_cast<std::int64_t>(tx.exec_prepared(delete_unused_bodies.name, hour, to_id_array(ids)).affected_rows());
    return deleted;
}

purge_batch purge_in(pqxx::work& tx)
{
    purge_batch batch;
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    std::int64_t oldest = to_unix_micros(endless);
    for (const auto& row : tx.exec_prepared(claim_ended.name)) {
        accounts.push_back(account_id::parse(row[0].c_str()).value());
        ids.push_back(inbox_id::parse(row[1].c_str()).value());
        oldest = std::min(oldest, row[2].as<std::int64_t>());
    }
    if (ids.empty())
        return batch;

    const auto deleted = tx.exec_prepared(delete_emails.name, to_id_array(accounts), to_id_array(ids), oldest);
    bodies_by_hour own, shared;
    for (const auto& row : deleted)
        (row[2].as<bool>() ? shared : own)[row[0].as<std::int64_t>()].push_back(body_id::parse(row[1].c_str()).value());
    batch.emails = static_cast<std::int64_t>(deleted.size());
    batch.bodies = delete_own_bodies(tx, own) + delete_shared_bodies(tx, shared);

    if (batch.emails < purge_store::batch_size) {
        tx.exec_prepared(mark_purged.name, to_id_array(accounts), to_id_array(ids));
        batch.inboxes = static_cast<std::int64_t>(ids.size());
    }
    batch.is_full = batch.emails == purge_store::batch_size || ids.size() == 100;
    return batch;
}

} // namespace

purge_store::purge_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {claim_ended, delete_emails, mark_purged, delete_bodies, lock_bodies, delete_unused_bodies,
                                  forget_ended, free_addresses})
        db_.prepare(statement);
}

awaitable<purge_batch> purge_store::purge_mail()
{
    return db_.transact([](pqxx::work& tx) { return purge_in(tx); });
}

awaitable<purge_batch> purge_store::forget_inboxes(std::chrono::seconds kept)
{
    return db_.transact([kept](pqxx::work& tx) {
        const auto inboxes = tx.exec_prepared(forget_ended.name, static_cast<std::int64_t>(kept.count())).affected_rows();
        const auto addresses = tx.exec_prepared(free_addresses.name).affected_rows();
        purge_batch batch;
        batch.inboxes = static_cast<std::int64_t>(inboxes);
        batch.is_full = std::max(inboxes, addresses) == static_cast<std::size_t>(batch_size);
        return batch;
    });
}

} // namespace tempinbox::mailbox
