#include "mailbox/restore.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/row_position.hpp"
#include "mailbox/types.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

using postgres::column;
using postgres::step_progress;

// The primary key begins with the account, so the position is both ids.
constexpr const char* raise_batch = R"(
WITH batch AS (
    SELECT account_id, inbox_id FROM mailbox.inboxes
    WHERE (account_id, inbox_id) > ($1::uuid, $2::uuid)
    ORDER BY account_id, inbox_id LIMIT $3 FOR UPDATE)
UPDATE mailbox.inboxes AS i
SET last_sequence = last_sequence + $4, state_version = state_version + $4 FROM batch
WHERE i.account_id = batch.account_id AND i.inbox_id = batch.inbox_id
RETURNING i.account_id, i.inbox_id)";

constexpr const char* end_login_batch = R"(
WITH batch AS (
    SELECT account_id, login_id FROM mailbox.capture_logins WHERE revoked_at IS NULL
    ORDER BY account_id, login_id LIMIT $1),
next AS (
    UPDATE mailbox.capture_changes SET version = version + 1
    WHERE EXISTS (SELECT 1 FROM batch) RETURNING version)
UPDATE mailbox.capture_logins AS l SET revoked_at = clock_timestamp(), version = next.version
FROM batch, next
WHERE l.account_id = batch.account_id AND l.login_id = batch.login_id
RETURNING l.login_id)";

constexpr const char* quarantine_batch = R"(
INSERT INTO mailbox.addresses AS known (address, account_id, inbox_id, state, until)
SELECT DISTINCT ON (address) address, account_id, inbox_id, 'quarantined',
       now() + make_interval(secs => $4::bigint)
FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS lost(address, account_id, inbox_id)
WHERE NOT EXISTS (SELECT FROM mailbox.inboxes AS i
                  WHERE i.account_id = lost.account_id AND i.inbox_id = lost.inbox_id)
ORDER BY address
ON CONFLICT (address) DO UPDATE SET until = greatest(known.until, excluded.until)
    WHERE known.state = 'quarantined'
RETURNING address)";

// A lost catch-all's account keeps its subdomain as if that inbox had just ended.
constexpr const char* keep_subdomains = R"(
INSERT INTO mailbox.subdomains AS known (account_id, domain, live_inboxes, until)
SELECT DISTINCT ON (domain) account_id, split_part(address, '@', 2) AS domain, 0,
       now() + make_interval(secs => $4::bigint)
FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS lost(address, account_id, inbox_id)
WHERE starts_with(address, '*@')
    AND NOT EXISTS (SELECT FROM mailbox.inboxes AS i
                    WHERE i.account_id = lost.account_id AND i.inbox_id = lost.inbox_id)
ORDER BY domain
ON CONFLICT (domain) DO UPDATE
    SET account_id = excluded.account_id, until = greatest(known.until, excluded.until)
    WHERE known.live_inboxes = 0)";

constexpr const char* list_lost = R"(
SELECT DISTINCT account_id, inbox_id
FROM unnest($1::uuid[], $2::uuid[]) AS known(account_id, inbox_id)
WHERE NOT EXISTS (SELECT FROM mailbox.inboxes AS i
                  WHERE i.account_id = known.account_id AND i.inbox_id = known.inbox_id))";

constexpr const char* list_live = R"(
SELECT DISTINCT inbox_id FROM unnest($1::uuid[], $2::uuid[]) AS known(account_id, inbox_id)
WHERE EXISTS (SELECT FROM mailbox.inboxes AS i
              WHERE i.account_id = known.account_id AND i.inbox_id = known.inbox_id
                AND i.is_live))";

struct inbox_columns_of
{
    std::vector<std::string> addresses;
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;

    explicit inbox_columns_of(const std::vector<known_inbox>& inboxes)
    {
        for (const auto& one : inboxes) {
            addresses.push_back(one.address);
            accounts.push_back(one.account);
            ids.push_back(one.id);
        }
    }
};

// For inbox.state, which holds the lost inboxes as they were after the moment. Nothing is known of
// their versions, so these are above all.
std::vector<outbox::row> make_tombstones(pqxx::work& tx, const inbox_columns_of& published)
{
    std::vector<outbox::row> tombstones;
    for (const auto& row : tx.exec_params(list_lost, postgres::to_array(published.accounts),
                                          postgres::to_array(published.ids)))
        tombstones.push_back(make_state_tombstone(column<account_id>(row, "account_id"),
                                                  column<inbox_id>(row, "inbox_id"),
                                                  INT64_MAX - 1));
    return tombstones;
}

awaitable<std::vector<inbox_id>> list(postgres::pool& db, const char* sql,
                                      const std::vector<known_inbox>& published)
{
    return db.transact([sql, of = inbox_columns_of(published)](pqxx::work& tx) {
        std::vector<inbox_id> found;
        for (const auto& row :
             tx.exec_params(sql, postgres::to_array(of.accounts), postgres::to_array(of.ids)))
            found.push_back(column<inbox_id>(row, "inbox_id"));
        return found;
    });
}

} // namespace

awaitable<std::int64_t> count_restored_inboxes(postgres::pool& db)
{
    return db.transact([](pqxx::work& tx) {
        return column<std::int64_t>(tx.exec1("SELECT count(*) AS count FROM mailbox.inboxes"),
                                    "count");
    });
}

awaitable<step_progress> raise_sequences(postgres::pool& db, std::string restore_id)
{
    return db.transact([id = std::move(restore_id)](pqxx::work& tx) {
        auto progress = postgres::lock_step(tx, schema, id, "sequences");
        if (progress.is_finished)
            return progress;
        const auto [account, inbox] = split_position(progress.position);
        const auto raised =
            tx.exec_params(raise_batch, account, inbox, restore_batch_size, sequence_gap);
        std::pair<account_id, inbox_id> last;
        for (const auto& row : raised)
            last = std::max(
                last, {column<account_id>(row, "account_id"), column<inbox_id>(row, "inbox_id")});
        if (!raised.empty())
            progress.position = last.first.text() + "/" + last.second.text();
        progress.rows += static_cast<std::int64_t>(raised.size());
        progress.is_finished = postgres::row_count(raised) < restore_batch_size;
        postgres::save_step(tx, schema, id, "sequences", progress);
        return progress;
    });
}

awaitable<std::int64_t> count_restored_logins(postgres::pool& db)
{
    return db.transact([](pqxx::work& tx) {
        return column<std::int64_t>(
            tx.exec1(
                "SELECT count(*) AS count FROM mailbox.capture_logins WHERE revoked_at IS NULL"),
            "count");
    });
}

awaitable<step_progress> end_all_logins(postgres::pool& db, std::string restore_id)
{
    return db.transact([id = std::move(restore_id)](pqxx::work& tx) {
        auto progress = postgres::lock_step(tx, schema, id, "logins");
        if (progress.is_finished)
            return progress;
        const auto ended = tx.exec_params(end_login_batch, restore_batch_size);
        progress.rows += static_cast<std::int64_t>(ended.size());
        progress.is_finished = postgres::row_count(ended) < restore_batch_size;
        postgres::save_step(tx, schema, id, "logins", progress);
        return progress;
    });
}

awaitable<step_progress> quarantine_lost(postgres::pool& db, std::string restore_id,
                                         std::vector<known_inbox> published,
                                         std::chrono::seconds quarantine, bool is_last)
{
    return db.transact([id = std::move(restore_id), lost = inbox_columns_of(published), quarantine,
                        is_last](pqxx::work& tx) {
        auto progress = postgres::lock_step(tx, schema, id, "addresses");
        if (progress.is_finished)
            return progress;
        const auto addresses = postgres::to_array(lost.addresses);
        const auto accounts = postgres::to_array(lost.accounts);
        const auto ids = postgres::to_array(lost.ids);
        tx.exec_params0(keep_subdomains, addresses, accounts, ids, quarantine.count());
        const auto rows =
            tx.exec_params(quarantine_batch, addresses, accounts, ids, quarantine.count());
        outbox::insert(tx, schema, "restore", make_tombstones(tx, lost));
        progress.rows += static_cast<std::int64_t>(rows.size());
        progress.is_finished = is_last;
        postgres::save_step(tx, schema, id, "addresses", progress);
        return progress;
    });
}

awaitable<std::vector<inbox_id>> find_lost_inboxes(postgres::pool& db,
                                                   std::vector<known_inbox> published)
{
    return list(db, list_lost, published);
}

awaitable<std::vector<inbox_id>> find_live_inboxes(postgres::pool& db,
                                                   std::vector<known_inbox> published)
{
    return list(db, list_live, published);
}

} // namespace tempinbox::mailbox
