#include "accounts/key_repository.hpp"

#include "accounts/account_rows.hpp"
#include "accounts/api_key.hpp"
#include "accounts/state_events.hpp"
#include "common/core/text.hpp"
#include "common/credentials/read_changes.hpp"
#include "common/crypto/digest.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::accounts {
namespace {

using postgres::column;
using postgres::read_column;

constexpr postgres::statement find_state{
    "keys_find_state", "SELECT * FROM accounts.states WHERE account_id = $1 AND NOT is_deleted"};
constexpr postgres::statement count_keys{"keys_count",
                                         "SELECT count(*) AS count FROM accounts.api_keys"
                                         " WHERE account_id = $1 AND revoked_at IS NULL"
                                         " AND (expires_at IS NULL OR expires_at > now())"};
// A key whose response never reached the caller: its text is lost, so another replaces it.
constexpr postgres::statement delete_undelivered{
    "keys_delete_unheard", "DELETE FROM accounts.api_keys WHERE account_id = $1 AND key_id = $2"};
constexpr postgres::statement insert_key{"keys_insert", R"(
    INSERT INTO accounts.api_keys (
        account_id, key_id, label, prefix, key_sha256, version, scopes, tag, expires_at,
        has_own_responses)
    VALUES ($1, $2, $3, $4, $5, $6, string_to_array($7, ' '), $8,
            timestamptz 'epoch' + $9::bigint * interval '1 microsecond', true)
    RETURNING (extract(epoch FROM created_at) * 1000000)::bigint AS created_micros)"};
constexpr postgres::statement list_keys{"keys_list", R"(
    SELECT key_id, label, prefix, array_to_string(scopes, ' ') AS scopes, tag,
        (extract(epoch FROM expires_at) * 1000000)::bigint AS expires_micros,
        (extract(epoch FROM created_at) * 1000000)::bigint AS created_micros,
        (extract(epoch FROM last_used_at) * 1000000)::bigint AS last_used_micros,
        count(*) FILTER (WHERE expires_at IS NULL OR expires_at > now())
            OVER (ORDER BY created_at, key_id) AS position,
        suspended_at IS NOT NULL AS is_suspended
    FROM accounts.api_keys
    WHERE account_id = $1 AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > now() - interval '30 days')
    ORDER BY created_at, key_id)"};
constexpr postgres::statement revoke_key{
    "keys_revoke", "UPDATE accounts.api_keys SET revoked_at = now(), version = $3"
                   " WHERE account_id = $1 AND key_id = $2 AND revoked_at IS NULL"};
constexpr postgres::statement activate_key{
    "keys_activate", "UPDATE accounts.api_keys SET suspended_at = NULL, version = $3"
                     " WHERE account_id = $1 AND key_id = $2 AND revoked_at IS NULL"};
constexpr postgres::statement find_key_account{
    "keys_find_account", "SELECT account_id FROM accounts.api_keys WHERE key_id = $1"};
// The join to the single row of accounts.changes returns a row even if there is no such key.
// $1 finds a key that may do everything, $2 one that is restricted.
constexpr postgres::statement find_by_hash{"keys_find_by_hash", R"(
    SELECT c.version AS changes_version, k.key_id, array_to_string(k.scopes, ' ') AS scopes, k.tag,
        (extract(epoch FROM k.expires_at) * 1000000)::bigint AS expires_micros,
        k.has_own_responses, older.position,
        (extract(epoch FROM older.first_end) * 1000000)::bigint AS position_ends_micros, s.*
    FROM accounts.changes c
        LEFT JOIN (accounts.api_keys k
                   JOIN accounts.states s ON s.account_id = k.account_id AND NOT s.is_deleted)
            ON k.key_sha256 IN ($1, $2) AND k.revoked_at IS NULL AND k.suspended_at IS NULL
        LEFT JOIN LATERAL (
            SELECT count(*) AS position,
                min(o.expires_at) FILTER (WHERE o.key_id <> k.key_id) AS first_end
            FROM accounts.api_keys o
            WHERE o.account_id = k.account_id AND o.revoked_at IS NULL
                AND (o.expires_at IS NULL OR o.expires_at > now())
                AND (o.created_at, o.key_id) <= (k.created_at, k.key_id)) AS older ON true)"};
constexpr postgres::statement read_version{"keys_read_version",
                                           "SELECT version FROM accounts.changes"};
constexpr postgres::statement list_changed{
    "keys_list_changed",
    "SELECT account_id FROM accounts.accounts WHERE version > $1"
    " UNION SELECT account_id FROM accounts.api_keys WHERE version > $1 LIMIT $2"};
// In the order of the keys, so that two gateways that record at once cannot deadlock.
constexpr postgres::statement record_key_uses{
    "keys_record_uses",
    "WITH used AS (SELECT k.account_id, k.key_id, u.micros FROM accounts.api_keys k"
    "  JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS u(account_id, key_id, micros)"
    "  ON k.account_id = u.account_id AND k.key_id = u.key_id ORDER BY k.account_id, k.key_id FOR "
    "UPDATE OF k)"
    " UPDATE accounts.api_keys k SET last_used_at = greatest(k.last_used_at, timestamptz 'epoch' + "
    "used.micros * interval '1 "
    "microsecond')"
    " FROM used WHERE k.account_id = used.account_id AND k.key_id = used.key_id"};

// What a restricted key is stored and found by. A release that does not know restrictions looks for
// the digest alone: it refuses the key, where it would let it do everything.
std::string digest_of_restricted(std::string_view digest)
{
    return crypto::sha256("restricted " + std::string(digest));
}

key_access read_access(const pqxx::row& row)
{
    key_access access;
    if (const auto names = column<std::optional<std::string>>(row, "scopes"))
        access.scopes = scope_set::of_names(split_list(*names, ' '));
    read_column(row, "tag", access.tag);
    read_column(row, "expires_micros", access.expires_at);
    return access;
}

// NULL if there are none.
std::optional<std::string> to_column(const std::optional<scope_set>& scopes)
{
    if (!scopes)
        return std::nullopt;
    std::string names;
    for (const auto& name : scopes->names())
        names += (names.empty() ? "" : " ") + name;
    return names;
}

std::optional<std::int64_t> to_column(const std::optional<time_point>& moment)
{
    return moment ? std::optional(to_unix_micros(*moment)) : std::nullopt;
}

api_key read_key(const pqxx::row& row)
{
    api_key found;
    found.access = read_access(row);
    read_column(row, "key_id", found.id);
    read_column(row, "label", found.label);
    read_column(row, "prefix", found.prefix);
    read_column(row, "created_micros", found.created_at);
    read_column(row, "last_used_micros", found.last_used_at);
    read_column(row, "position", found.position);
    read_column(row, "is_suspended", found.is_suspended);
    return found;
}

result<void> check_label(const std::string& label)
{
    if (is_valid_utf8(label) && count_characters(label) >= 1 && count_characters(label) <= 100)
        return {};
    return failure{errc::invalid_argument,
                   "label must have 1 to 100 characters, not " + quote(label)};
}

result<void> check_key_limit(const plans::account_state& state, std::int64_t live_keys,
                             key_allowance allowance)
{
    const auto now = system_clock_source{}.now();
    const auto& limits = state.limits_at(now);
    const bool waits_for_a_plan = allowance == key_allowance::operator_made && !limits.api_access;
    if (waits_for_a_plan || live_keys < limits.api_keys)
        return {};
    if (limits.api_keys <= 0 || !limits.api_access)
        return failure{errc::permission_denied,
                       "API keys are not part of the plan " + state.plan_at(now),
                       error_reason::plan_required};
    return failure{errc::permission_denied,
                   "The plan " + state.plan_at(now) + " has " + std::to_string(limits.api_keys) +
                       (limits.api_keys == 1 ? " API key" : " API keys") +
                       ", all in use: revoke one first",
                   error_reason::key_limit};
}

} // namespace

key_repository::key_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {find_state, count_keys, delete_undelivered, insert_key, list_keys,
                                  revoke_key, activate_key, find_key_account, find_by_hash,
                                  read_version, list_changed, record_key_uses})
        db_.prepare(statement);
}

awaitable<result<created_key>> key_repository::create(account_id account, key_id id,
                                                      std::string label, key_allowance allowance,
                                                      key_access access)
{
    return db_.transact(
        [account, id, label, allowance, access](pqxx::work& tx) -> result<created_key> {
            if (const auto sane = check_label(label); !sane)
                return sane.error();
            if (const auto sane = check_access(access, system_clock_source{}.now()); !sane)
                return sane.error();
            const auto version = next_version(tx);
            const auto states = postgres::exec_prepared(tx, find_state.name, account.text());
            if (states.empty())
                return no_such_account(account);
            postgres::exec_prepared0(tx, delete_undelivered.name, account.text(), id.text());
            const auto live_keys = column<std::int64_t>(
                postgres::exec_prepared1(tx, count_keys.name, account.text()), "count");
            if (const auto allowed = check_key_limit(read_state(states[0]), live_keys, allowance);
                !allowed)
                return allowed.error();

            const auto key = make_api_key();
            const auto digest = api_key_digest(key.reveal());
            api_key record;
            record.id = id;
            record.label = label;
            record.prefix = api_key_prefix(key.reveal());
            record.access = access;
            record.position = static_cast<int>(live_keys) + 1;
            const auto row = postgres::exec_prepared1(
                tx, insert_key.name, account.text(), record.id.text(), record.label, record.prefix,
                pqxx::binarystring(access.is_restricted() ? digest_of_restricted(digest) : digest),
                version, to_column(access.scopes), access.tag, to_column(access.expires_at));
            read_column(row, "created_micros", record.created_at);
            return created_key(std::move(record), key);
        });
}

awaitable<result<std::vector<api_key>>> key_repository::list(account_id account)
{
    return db_.transact([account](pqxx::work& tx) -> result<std::vector<api_key>> {
        if (postgres::exec_prepared(tx, find_state.name, account.text()).empty())
            return no_such_account(account);
        std::vector<api_key> keys;
        for (const auto& row : postgres::exec_prepared(tx, list_keys.name, account.text()))
            keys.push_back(read_key(row));
        return keys;
    });
}

awaitable<result<void>> key_repository::revoke(account_id account, key_id key)
{
    return db_.transact([account, key](pqxx::work& tx) -> result<void> {
        const auto version = next_version(tx);
        if (postgres::exec_prepared(tx, revoke_key.name, account.text(), key.text(), version)
                .affected_rows() == 0)
            return failure{errc::not_found, "API key " + key.text() + " does not exist"};
        return {};
    });
}

awaitable<result<void>> key_repository::activate(account_id account, key_id key)
{
    return db_.transact([account, key](pqxx::work& tx) -> result<void> {
        const auto version = next_version(tx);
        if (postgres::exec_prepared(tx, activate_key.name, account.text(), key.text(), version)
                .affected_rows() == 0)
            return failure{errc::not_found, "API key " + key.text() + " does not exist"};
        return {};
    });
}

awaitable<result<account_id>> key_repository::find_account(key_id key)
{
    return db_.transact([key](pqxx::work& tx) -> result<account_id> {
        const auto rows = postgres::exec_prepared(tx, find_key_account.name, key.text());
        if (rows.empty())
            return failure{errc::not_found, "API key " + key.text() + " does not exist"};
        return column<account_id>(rows[0], "account_id");
    });
}

awaitable<key_lookup> key_repository::find_by_digest(std::string digest)
{
    return db_.transact([digest](pqxx::work& tx) {
        const auto row = postgres::exec_prepared1(tx, find_by_hash.name, pqxx::binarystring(digest),
                                                  pqxx::binarystring(digest_of_restricted(digest)));
        key_lookup lookup;
        read_column(row, "changes_version", lookup.version);
        const auto key = column<std::optional<key_id>>(row, "key_id");
        if (!key)
            return lookup;
        key_owner owner;
        owner.key = *key;
        owner.access = read_access(row);
        read_column(row, "has_own_responses", owner.has_own_responses);
        read_column(row, "position", owner.position);
        read_column(row, "position_ends_micros", owner.position_ends_at);
        owner.account = read_state(row);
        lookup.owner = std::move(owner);
        return lookup;
    });
}

awaitable<change_set> key_repository::read_changes(std::optional<std::int64_t> after)
{
    return credentials::read_changes(db_, read_version, list_changed, after);
}

awaitable<void> key_repository::record_uses(std::vector<use> uses)
{
    std::vector<account_id> accounts;
    std::vector<key_id> keys;
    std::vector<std::int64_t> times;
    for (const auto& entry : uses) {
        accounts.push_back(entry.account);
        keys.push_back(entry.key);
        times.push_back(to_unix_micros(entry.at));
    }
    return db_.transact([accounts = postgres::to_array(accounts), keys = postgres::to_array(keys),
                         times = postgres::to_array(times)](pqxx::work& tx) {
        postgres::exec_prepared0(tx, record_key_uses.name, accounts, keys, times);
    });
}

} // namespace tempinbox::accounts
