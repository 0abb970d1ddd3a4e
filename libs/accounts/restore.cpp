#include "accounts/restore.hpp"

#include "accounts/account_rows.hpp"
#include "accounts/state_events.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

#include <algorithm>

namespace tempinbox::accounts {
namespace {

using postgres::column;
using postgres::read_column;
using postgres::step_progress;

constexpr const char* schema = "accounts";
// Owns outbox rows whose lease has ended: any gateway's next sweep takes them.
constexpr const char* outbox_owner = "tempinboxctl";

constexpr const char* count_all = R"(
SELECT (SELECT version FROM accounts.changes) AS version,
       (SELECT count(*) FROM accounts.accounts) AS accounts,
       (SELECT count(*) FROM accounts.sessions) + (SELECT count(*) FROM accounts.password_resets)
           + (SELECT count(*) FROM accounts.sign_ups) AS sessions,
       (SELECT count(*) FROM accounts.api_keys WHERE revoked_at IS NULL AND suspended_at IS NULL)
           AS keys)";

constexpr const char* find_noted = R"(
SELECT restore_id, (extract(epoch FROM moment) * 1000000)::bigint AS moment, keeps_keys, version,
       (extract(epoch FROM began_at) * 1000000)::bigint AS began_at,
       (extract(epoch FROM offsets_set_at) * 1000000)::bigint AS offsets_set_at,
       (extract(epoch FROM settled_at) * 1000000)::bigint AS settled_at
FROM accounts.restores WHERE restore_id = $1)";

constexpr const char* raise_version = R"(
UPDATE accounts.changes SET version = greatest(version, $1) + 1 RETURNING version)";
constexpr const char* lock_version = "SELECT version FROM accounts.changes FOR UPDATE";
constexpr const char* note_restore = R"(
INSERT INTO accounts.restores (restore_id, moment, keeps_keys, version)
VALUES ($1, timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3, $4))";

constexpr const char* stamp_accounts = R"(
WITH batch AS (
    SELECT account_id FROM accounts.accounts WHERE account_id > $1::uuid
    ORDER BY account_id LIMIT $2 FOR UPDATE)
UPDATE accounts.accounts AS a SET version = greatest(a.version, $3) FROM batch
WHERE a.account_id = batch.account_id RETURNING a.account_id)";
constexpr const char* list_states =
    "SELECT * FROM accounts.states WHERE account_id = ANY ($1::uuid[])";
constexpr const char* list_lost = R"(
SELECT DISTINCT account_id FROM unnest($1::uuid[]) AS known(account_id)
WHERE NOT EXISTS (SELECT FROM accounts.accounts AS a WHERE a.account_id = known.account_id))";

constexpr const char* delete_sessions = R"(
DELETE FROM accounts.sessions WHERE session_sha256 IN (
    SELECT session_sha256 FROM accounts.sessions LIMIT $1))";
constexpr const char* delete_resets = "DELETE FROM accounts.password_resets";
constexpr const char* delete_codes = "DELETE FROM accounts.sign_ups";

constexpr const char* suspend_keys = R"(
UPDATE accounts.api_keys SET suspended_at = now(), version = $2
WHERE (account_id, key_id) IN (
    SELECT account_id, key_id FROM accounts.api_keys
    WHERE revoked_at IS NULL AND suspended_at IS NULL
    ORDER BY account_id, key_id LIMIT $1 FOR UPDATE))";

constexpr const char* first_id = "00000000-0000-0000-0000-000000000000";

restore read_restore(const pqxx::row& row)
{
    restore found;
    read_column(row, "restore_id", found.id);
    read_column(row, "moment", found.moment);
    read_column(row, "keeps_keys", found.keeps_keys);
    read_column(row, "version", found.version);
    read_column(row, "began_at", found.began_at);
    read_column(row, "offsets_set_at", found.offsets_set_at);
    read_column(row, "settled_at", found.settled_at);
    return found;
}

std::vector<plans::account_state> read_states(pqxx::work& tx, const std::vector<account_id>& ids)
{
    std::vector<plans::account_state> states;
    for (const auto& row : tx.exec_params(list_states, postgres::to_array(ids)))
        states.push_back(read_state(row));
    return states;
}

std::vector<account_id> find_lost(pqxx::work& tx, const std::vector<account_id>& known_elsewhere)
{
    std::vector<account_id> lost;
    for (const auto& row : tx.exec_params(list_lost, postgres::to_array(known_elsewhere)))
        lost.push_back(column<account_id>(row, "account_id"));
    return lost;
}

void write_events(pqxx::work& tx, const std::vector<plans::account_state>& states)
{
    if (!states.empty())
        write_state_events(tx, state_publisher(outbox_owner, nullptr), states);
}

// One batch of a step: `work` changes rows and returns whether that was the last of them.
template <class Work>
awaitable<step_progress> run_batch(postgres::pool& db, std::string id, std::string step, Work work)
{
    return db.transact(
        [id = std::move(id), step = std::move(step), work = std::move(work)](pqxx::work& tx) {
            auto progress = postgres::lock_step(tx, schema, id, step);
            if (progress.is_finished)
                return progress;
            progress.is_finished = work(tx, progress);
            postgres::save_step(tx, schema, id, step, progress);
            return progress;
        });
}

} // namespace

awaitable<restored_accounts> count_restored_accounts(postgres::pool& db)
{
    return db.transact([](pqxx::work& tx) {
        const auto row = tx.exec1(count_all);
        restored_accounts found;
        read_column(row, "version", found.version);
        read_column(row, "accounts", found.accounts);
        read_column(row, "sessions", found.sessions);
        read_column(row, "keys", found.keys);
        return found;
    });
}

awaitable<std::optional<restore>> find_restore(postgres::pool& db, std::string id)
{
    return db.transact([id = std::move(id)](pqxx::work& tx) -> std::optional<restore> {
        const auto rows = tx.exec_params(find_noted, id);
        if (rows.empty())
            return std::nullopt;
        return read_restore(rows[0]);
    });
}

awaitable<result<restore>> begin_restore(postgres::pool& db, restore requested,
                                         std::int64_t published_version)
{
    return db.transact(
        [requested = std::move(requested), published_version](pqxx::work& tx) -> result<restore> {
            tx.exec1(lock_version); // another run may begin the same restore
            if (const auto rows = tx.exec_params(find_noted, requested.id); !rows.empty()) {
                auto noted = read_restore(rows[0]);
                if (noted.moment != requested.moment)
                    return failure{errc::conflict, "this restore is being settled, or was, for the "
                                                   "moment " +
                                                       to_iso8601(noted.moment) + ", not " +
                                                       to_iso8601(requested.moment)};
                if (noted.keeps_keys != requested.keeps_keys)
                    return failure{errc::conflict,
                                   std::string("this restore is being settled, or was, ") +
                                       (noted.keeps_keys ? "with" : "without") + " --keep-keys"};
                return noted;
            }
            auto begun = requested;
            begun.version =
                column<std::int64_t>(tx.exec_params1(raise_version, published_version), "version");
            tx.exec_params0(note_restore, begun.id, to_unix_micros(begun.moment), begun.keeps_keys,
                            begun.version);
            return begun;
        });
}

awaitable<step_progress> republish_states(postgres::pool& db, restore of)
{
    const auto version = of.version;
    return run_batch(
        db, std::move(of.id), "states", [version](pqxx::work& tx, step_progress& progress) {
            std::vector<account_id> ids;
            for (const auto& row : tx.exec_params(
                     stamp_accounts, progress.position.empty() ? first_id : progress.position,
                     restore_batch_size, version))
                ids.push_back(column<account_id>(row, "account_id"));
            write_events(tx, read_states(tx, ids));
            progress.rows += static_cast<std::int64_t>(ids.size());
            if (!ids.empty())
                progress.position = std::max_element(ids.begin(), ids.end())->text();
            return ids.size() < restore_batch_size;
        });
}

awaitable<step_progress> publish_lost_accounts(postgres::pool& db, restore of,
                                               std::vector<account_id> known_elsewhere,
                                               bool is_last)
{
    const auto version = of.version;
    return run_batch(db, std::move(of.id), "lost accounts",
                     [version, is_last, known_elsewhere = std::move(known_elsewhere)](
                         pqxx::work& tx, step_progress& progress) {
                         std::vector<plans::account_state> states;
                         for (const auto& account : find_lost(tx, known_elsewhere)) {
                             auto& state = states.emplace_back();
                             state.account = account;
                             state.version = version;
                             state.is_deleted = true;
                         }
                         write_events(tx, states);
                         progress.rows += static_cast<std::int64_t>(states.size());
                         return is_last;
                     });
}

awaitable<std::vector<account_id>> find_lost_accounts(postgres::pool& db,
                                                      std::vector<account_id> known_elsewhere)
{
    return db.transact([known_elsewhere = std::move(known_elsewhere)](pqxx::work& tx) {
        return find_lost(tx, known_elsewhere);
    });
}

awaitable<step_progress> end_all_sessions(postgres::pool& db, restore of)
{
    return run_batch(db, std::move(of.id), "sessions", [](pqxx::work& tx, step_progress& progress) {
        const auto ended =
            postgres::written_rows(tx.exec_params(delete_sessions, restore_batch_size));
        progress.rows += static_cast<std::int64_t>(ended);
        if (ended == restore_batch_size)
            return false;
        for (const auto* const sql : {delete_resets, delete_codes})
            progress.rows += static_cast<std::int64_t>(tx.exec(sql).affected_rows());
        return true;
    });
}

awaitable<step_progress> suspend_all_keys(postgres::pool& db, restore of)
{
    const auto version = of.version;
    return run_batch(
        db, std::move(of.id), "keys", [version](pqxx::work& tx, step_progress& progress) {
            const auto suspended =
                postgres::written_rows(tx.exec_params(suspend_keys, restore_batch_size, version));
            progress.rows += static_cast<std::int64_t>(suspended);
            return suspended < restore_batch_size;
        });
}

awaitable<void> note_offsets_set(postgres::pool& db, std::string id)
{
    return db.transact([id = std::move(id)](pqxx::work& tx) {
        tx.exec_params0("UPDATE accounts.restores SET offsets_set_at = clock_timestamp()"
                        " WHERE restore_id = $1",
                        id);
    });
}

awaitable<void> note_settled(postgres::pool& db, std::string id)
{
    return db.transact([id = std::move(id)](pqxx::work& tx) {
        tx.exec_params0("UPDATE accounts.restores SET settled_at = clock_timestamp()"
                        " WHERE restore_id = $1 AND settled_at IS NULL",
                        id);
    });
}

} // namespace tempinbox::accounts
