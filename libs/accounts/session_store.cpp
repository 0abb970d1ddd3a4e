#include "accounts/session_store.hpp"

#include "accounts/account_row.hpp"
#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::accounts {
namespace {

constexpr std::size_t token_bytes = 32;

// The lock makes a concurrent change of the password either end this session or prevent it.
constexpr postgres::statement insert_session{
    "sessions_insert",
    "INSERT INTO accounts.sessions (session_sha256, account_id, expires_at)"
    " SELECT $1, account_id, now() + $3::bigint * interval '1 second' FROM accounts.users"
    " WHERE account_id = $2 AND password_hash = $4 FOR SHARE"};
constexpr postgres::statement find_session{
    "sessions_find", "SELECT s.*, least(now() + $2::bigint * interval '1 second',"
                     " e.created_at + $3::bigint * interval '1 second') - e.expires_at > interval "
                     "'1 hour' AS is_to_slide"
                     " FROM accounts.sessions e JOIN accounts.states s ON s.account_id = "
                     "e.account_id AND NOT s.is_deleted"
                     " WHERE e.session_sha256 = $1 AND e.expires_at > now()"};
// At most once an hour, so that a page that polls often does not write as often.
constexpr postgres::statement slide_session{"sessions_slide",
                                            "UPDATE accounts.sessions SET expires_at ="
                                            " least(now() + $2::bigint * interval '1 second', "
                                            "created_at + $3::bigint * interval '1 second')"
                                            " WHERE session_sha256 = $1"};
constexpr postgres::statement end_session{
    "sessions_end", "DELETE FROM accounts.sessions WHERE session_sha256 = $1"};
constexpr postgres::statement end_sessions{"sessions_end_all",
                                           "DELETE FROM accounts.sessions WHERE account_id = $1"};
constexpr postgres::statement purge_sessions{
    "sessions_forget",
    "DELETE FROM accounts.sessions WHERE session_sha256 IN (SELECT session_sha256 FROM "
    "accounts.sessions"
    " WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)"};

} // namespace

secret make_session_token()
{
    return secret(to_base64url(crypto::random_bytes(token_bytes)));
}

std::string session_digest(std::string_view token)
{
    return crypto::sha256(token);
}

session_store::session_store(postgres::pool& db, session_bounds bounds) : db_(db), bounds_(bounds)
{
    for (const auto& statement :
         {insert_session, find_session, slide_session, end_session, end_sessions, purge_sessions})
        db_.prepare(statement);
}

awaitable<bool> session_store::open(std::string digest, account_id account,
                                    std::string password_hash)
{
    return db_.transact([digest, account, password_hash,
                         idle_timeout = bounds_.idle_timeout.count()](pqxx::work& tx) {
        return tx.exec_prepared(insert_session.name, pqxx::binarystring(digest), account.text(),
                                idle_timeout, password_hash)
                   .affected_rows() == 1;
    });
}

awaitable<std::optional<account>> session_store::find(std::string digest)
{
    return db_.transact([digest, bounds = bounds_](pqxx::work& tx) -> std::optional<account> {
        const pqxx::binarystring id(digest);
        const auto rows = tx.exec_prepared(find_session.name, id, bounds.idle_timeout.count(),
                                           bounds.max_lifetime.count());
        if (rows.empty())
            return std::nullopt;
        if (rows[0]["is_to_slide"].as<bool>())
            tx.exec_prepared0(slide_session.name, id, bounds.idle_timeout.count(),
                              bounds.max_lifetime.count());
        return read_account(rows[0]);
    });
}

awaitable<void> session_store::end(std::string digest)
{
    return db_.transact([digest](pqxx::work& tx) {
        tx.exec_prepared0(end_session.name, pqxx::binarystring(digest));
    });
}

awaitable<int> session_store::end_all(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        return static_cast<int>(
            tx.exec_prepared(end_sessions.name, account.text()).affected_rows());
    });
}

awaitable<int> session_store::purge()
{
    return db_.transact([](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_sessions.name, batch_size).affected_rows());
    });
}

} // namespace tempinbox::accounts
