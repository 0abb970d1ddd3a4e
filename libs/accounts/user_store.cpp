#include "accounts/user_store.hpp"

#include "accounts/account_row.hpp"

namespace tempinbox::accounts {
namespace {

constexpr postgres::statement find_user{
    "users_find",
    "SELECT s.*, coalesce(u.password_hash, '') AS password_hash FROM accounts.states s"
    " LEFT JOIN accounts.users u ON u.account_id = s.account_id WHERE s.account_id = $1 AND NOT "
    "s.is_deleted"};
constexpr postgres::statement find_user_by_email{
    "users_find_by_email",
    "SELECT s.*, coalesce(u.password_hash, '') AS password_hash FROM accounts.states s"
    " LEFT JOIN accounts.users u ON u.account_id = s.account_id"
    " WHERE lower(s.email) = lower($1) AND NOT s.is_deleted"};
constexpr postgres::statement lock_account{"users_lock_account",
                                           "SELECT account_id FROM accounts.accounts WHERE "
                                           "account_id = $1 AND deleted_at IS NULL FOR UPDATE"};
constexpr postgres::statement put_password{
    "users_put_password",
    "INSERT INTO accounts.users (account_id, password_hash) VALUES ($1, $2)"
    " ON CONFLICT (account_id) DO UPDATE SET password_hash = $2, changed_at = now()"};
constexpr postgres::statement end_sessions{"users_end_sessions",
                                           "DELETE FROM accounts.sessions WHERE account_id = $1"};
constexpr postgres::statement end_resets{
    "users_end_resets", "DELETE FROM accounts.password_resets WHERE account_id = $1"};

constexpr postgres::statement put_reset{
    "users_put_reset", "INSERT INTO accounts.password_resets (account_id, token_sha256, expires_at)"
                       " VALUES ($1, $2, now() + $3::bigint * interval '1 second')"
                       " ON CONFLICT (account_id) DO UPDATE SET token_sha256 = "
                       "excluded.token_sha256, expires_at = excluded.expires_at"};
// Locks the account before its link, in the same order as every other change of the password.
constexpr postgres::statement lock_reset_account{
    "users_lock_reset_account",
    "SELECT a.account_id FROM accounts.accounts a JOIN accounts.password_resets r"
    " ON r.account_id = a.account_id WHERE r.token_sha256 = $1 FOR UPDATE OF a"};
constexpr postgres::statement take_reset{"users_take_reset",
                                         "DELETE FROM accounts.password_resets WHERE token_sha256 "
                                         "= $1 RETURNING account_id, expires_at > now()"};

constexpr postgres::statement purge_resets{
    "users_forget_resets", "DELETE FROM accounts.password_resets WHERE expires_at <= now()"};
constexpr postgres::statement purge_sign_ups{
    "users_forget_sign_ups", "DELETE FROM accounts.sign_ups WHERE expires_at <= now()"};

failure no_such_account(account_id id)
{
    return failure{errc::not_found, "Account " + id.text() + " does not exist"};
}

// Sets the account's password; deletes every session opened with the old one and every reset link
// created for it.
result<account> put(pqxx::work& tx, account_id id, const std::string& password_hash)
{
    if (tx.exec_prepared(lock_account.name, id.text()).empty())
        return no_such_account(id);
    tx.exec_prepared0(put_password.name, id.text(), password_hash);
    tx.exec_prepared0(end_sessions.name, id.text());
    tx.exec_prepared0(end_resets.name, id.text());
    return read_account(tx.exec_prepared1(find_user.name, id.text()));
}

std::optional<user> read_user(const pqxx::result& rows)
{
    if (rows.empty())
        return std::nullopt;
    user found;
    found.record = read_account(rows[0]);
    found.password_hash = rows[0]["password_hash"].as<std::string>();
    return found;
}

} // namespace

user_store::user_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {find_user, find_user_by_email, lock_account, put_password, end_sessions, end_resets,
          put_reset, lock_reset_account, take_reset, purge_resets, purge_sign_ups})
        db_.prepare(statement);
}

awaitable<std::optional<user>> user_store::find_by_email(std::string email)
{
    return db_.transact([email](pqxx::work& tx) {
        return read_user(tx.exec_prepared(find_user_by_email.name, email));
    });
}

awaitable<std::optional<user>> user_store::find(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        return read_user(tx.exec_prepared(find_user.name, account.text()));
    });
}

awaitable<result<account>> user_store::set_password(account_id id, std::string password_hash)
{
    return db_.transact([id, password_hash](pqxx::work& tx) { return put(tx, id, password_hash); });
}

awaitable<result<account>> user_store::begin_reset(account_id id, std::string token_digest)
{
    return db_.transact([id, token_digest](pqxx::work& tx) -> result<account> {
        const auto rows = tx.exec_prepared(find_user.name, id.text());
        if (rows.empty())
            return no_such_account(id);
        tx.exec_prepared0(put_reset.name, id.text(), pqxx::binarystring(token_digest),
                          std::chrono::seconds(reset_lifetime).count());
        return read_account(rows[0]);
    });
}

awaitable<result<account>> user_store::reset_password(std::string token_digest,
                                                      std::string password_hash)
{
    return db_.transact([token_digest, password_hash](pqxx::work& tx) -> result<account> {
        tx.exec_prepared(lock_reset_account.name, pqxx::binarystring(token_digest));
        const auto rows = tx.exec_prepared(take_reset.name, pqxx::binarystring(token_digest));
        if (rows.empty() || !rows[0][1].as<bool>())
            return failure{errc::invalid_argument,
                           "token is not valid: it was used, replaced, or is older than an hour"};
        return put(tx, account_id::parse(rows[0][0].c_str()).value(), password_hash);
    });
}

awaitable<void> user_store::purge()
{
    return db_.transact([](pqxx::work& tx) {
        tx.exec_prepared0(purge_resets.name);
        tx.exec_prepared0(purge_sign_ups.name);
    });
}

} // namespace tempinbox::accounts
