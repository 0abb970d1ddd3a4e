#include "accounts/sign_in_repository.hpp"

#include "accounts/account_rows.hpp"
#include "accounts/sign_in_tokens.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <algorithm>

namespace tempinbox::accounts {
namespace {

using postgres::column;
using postgres::read_column;

constexpr std::int64_t window_seconds =
    std::chrono::seconds(sign_in_repository::attempt_window).count();

constexpr postgres::statement find_user_by_id{
    "users_find",
    "SELECT s.*, coalesce(u.password_hash, '') AS password_hash FROM accounts.states s"
    " LEFT JOIN accounts.users u ON u.account_id = s.account_id"
    " WHERE s.account_id = $1 AND NOT s.is_deleted"};
constexpr postgres::statement find_user_by_address{
    "users_find_by_email",
    "SELECT s.*, coalesce(u.password_hash, '') AS password_hash FROM accounts.states s"
    " LEFT JOIN accounts.users u ON u.account_id = s.account_id"
    " WHERE lower(s.email) = lower($1) AND NOT s.is_deleted"};
constexpr postgres::statement lock_account{
    "users_lock_account", "SELECT account_id FROM accounts.accounts"
                          " WHERE account_id = $1 AND deleted_at IS NULL FOR UPDATE"};
constexpr postgres::statement put_password{
    "users_put_password",
    "INSERT INTO accounts.users (account_id, password_hash) VALUES ($1, $2)"
    " ON CONFLICT (account_id) DO UPDATE SET password_hash = $2, changed_at = now()"};
constexpr postgres::statement end_resets{
    "users_end_resets", "DELETE FROM accounts.password_resets WHERE account_id = $1"};

constexpr postgres::statement put_reset{
    "users_put_reset", "INSERT INTO accounts.password_resets (account_id, token_sha256, expires_at)"
                       " VALUES ($1, $2, now() + $3::bigint * interval '1 second')"
                       " ON CONFLICT (account_id) DO UPDATE"
                       " SET token_sha256 = excluded.token_sha256,"
                       " expires_at = excluded.expires_at"};
// Locks the account before its link, in the same order as every other change of the password.
constexpr postgres::statement lock_reset_account{
    "users_lock_reset_account",
    "SELECT a.account_id FROM accounts.accounts a JOIN accounts.password_resets r"
    " ON r.account_id = a.account_id WHERE r.token_sha256 = $1 FOR UPDATE OF a"};
constexpr postgres::statement take_reset{
    "users_take_reset", "DELETE FROM accounts.password_resets WHERE token_sha256 = $1"
                        " RETURNING account_id, expires_at > now() AS is_valid"};

// The lock makes a concurrent change of the password either end this session or prevent it.
constexpr postgres::statement insert_session{
    "sessions_insert",
    "INSERT INTO accounts.sessions (session_sha256, account_id, expires_at)"
    " SELECT $1, account_id, now() + $3::bigint * interval '1 second' FROM accounts.users"
    " WHERE account_id = $2 AND password_hash = $4 FOR SHARE"};
constexpr postgres::statement find_by_session{
    "sessions_find",
    "SELECT s.*, least(now() + $2::bigint * interval '1 second',"
    " e.created_at + $3::bigint * interval '1 second') - e.expires_at > interval '1 hour'"
    " AS is_to_slide FROM accounts.sessions e"
    " JOIN accounts.states s ON s.account_id = e.account_id AND NOT s.is_deleted"
    " WHERE e.session_sha256 = $1 AND e.expires_at > now()"};
// At most once an hour, so that a page that polls often does not write as often.
constexpr postgres::statement slide_session{"sessions_slide",
                                            "UPDATE accounts.sessions SET expires_at ="
                                            " least(now() + $2::bigint * interval '1 second',"
                                            " created_at + $3::bigint * interval '1 second')"
                                            " WHERE session_sha256 = $1"};
constexpr postgres::statement delete_session{
    "sessions_end", "DELETE FROM accounts.sessions WHERE session_sha256 = $1"};
constexpr postgres::statement delete_sessions{
    "sessions_end_all", "DELETE FROM accounts.sessions WHERE account_id = $1"};

constexpr postgres::statement put_sign_up{
    "sign_ups_put", "INSERT INTO accounts.sign_ups (email, code_sha256, expires_at)"
                    " VALUES ($1, $2, now() + $3::bigint * interval '1 second')"
                    " ON CONFLICT (email) DO UPDATE SET code_sha256 = excluded.code_sha256,"
                    " expires_at = excluded.expires_at, wrong_codes = 0"};
// A guess is counted before it is compared, so that concurrent guesses are serialized.
constexpr postgres::statement count_guess{
    "sign_ups_count_guess", "UPDATE accounts.sign_ups SET wrong_codes = wrong_codes + 1"
                            " WHERE email = $1 AND expires_at > now() AND wrong_codes < $2"
                            " RETURNING code_sha256 = $3 AS is_right"};
constexpr postgres::statement delete_sign_up{"sign_ups_delete",
                                             "DELETE FROM accounts.sign_ups WHERE email = $1"};

// Serializes the attempts of one subject.
constexpr postgres::statement lock_subject{
    "attempts_lock", "SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0))"};
// How long until an attempt is allowed again: until the oldest of the newest $2 leaves the window.
constexpr postgres::statement judge_subject{
    "attempts_judge",
    "SELECT count(*) >= $2 AS is_full, coalesce(ceil(extract(epoch FROM min(at)) + $3"
    " - extract(epoch FROM now())), 0)::bigint AS retry_seconds"
    " FROM (SELECT at FROM accounts.attempts WHERE subject_sha256 = $1"
    " AND at > now() - $3::bigint * interval '1 second' ORDER BY at DESC LIMIT $2) AS newest"};
constexpr postgres::statement insert_attempt{
    "attempts_insert",
    "INSERT INTO accounts.attempts (subject_sha256, attempt_id, at) VALUES ($1, $2, now())"};
constexpr postgres::statement delete_attempt{
    "attempts_delete",
    "DELETE FROM accounts.attempts WHERE subject_sha256 = $1 AND attempt_id = $2"};
constexpr postgres::statement delete_attempts{
    "attempts_delete_subject", "DELETE FROM accounts.attempts WHERE subject_sha256 = $1"};

constexpr postgres::statement purge_sessions{
    "sessions_forget", "DELETE FROM accounts.sessions WHERE session_sha256 IN"
                       " (SELECT session_sha256 FROM accounts.sessions WHERE expires_at <= now()"
                       " ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)"};
constexpr postgres::statement purge_attempts{
    "attempts_forget", "DELETE FROM accounts.attempts WHERE (subject_sha256, attempt_id) IN"
                       " (SELECT subject_sha256, attempt_id FROM accounts.attempts"
                       " WHERE at < now() - $2::bigint * interval '1 second'"
                       " ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED)"};
constexpr postgres::statement purge_resets{
    "users_forget_resets", "DELETE FROM accounts.password_resets WHERE expires_at <= now()"};
constexpr postgres::statement purge_sign_ups{
    "users_forget_sign_ups", "DELETE FROM accounts.sign_ups WHERE expires_at <= now()"};

constexpr postgres::statement all_statements[] = {
    find_user_by_id, find_user_by_address, lock_account,    put_password,   end_resets,
    put_reset,       lock_reset_account,   take_reset,      insert_session, find_by_session,
    slide_session,   delete_session,       delete_sessions, put_sign_up,    count_guess,
    delete_sign_up,  lock_subject,         judge_subject,   insert_attempt, delete_attempt,
    delete_attempts, purge_sessions,       purge_attempts,  purge_resets,   purge_sign_ups};

std::optional<user> read_user(const pqxx::result& rows)
{
    if (rows.empty())
        return std::nullopt;
    user found;
    found.record = read_account(rows[0]);
    read_column(rows[0], "password_hash", found.password_hash);
    return found;
}

// Sets the account's password; deletes every session opened with the old one and every reset link
// created for it.
result<account> put(pqxx::work& tx, account_id id, const std::string& password_hash)
{
    if (postgres::exec_prepared(tx, lock_account.name, id.text()).empty())
        return no_such_account(id);
    postgres::exec_prepared0(tx, put_password.name, id.text(), password_hash);
    postgres::exec_prepared0(tx, delete_sessions.name, id.text());
    postgres::exec_prepared0(tx, end_resets.name, id.text());
    return read_account(postgres::exec_prepared1(tx, find_user_by_id.name, id.text()));
}

attempt_status judge(pqxx::work& tx, const attempt_subject& subject)
{
    attempt_status status;
    const auto row =
        postgres::exec_prepared1(tx, judge_subject.name, pqxx::binarystring(subject.digest),
                                 subject.max_attempts, window_seconds);
    status.is_allowed = !column<bool>(row, "is_full");
    status.retry_after =
        std::max(std::chrono::seconds(1), column<std::chrono::seconds>(row, "retry_seconds"));
    status.subject_digest = subject.digest;
    return status;
}

} // namespace

attempt_subject::attempt_subject(std::string_view kind, std::string_view name, int limit)
    : digest(crypto::sha256(std::string(kind).append("\n").append(name))),
      max_attempts(limit)
{}

sign_in_repository::sign_in_repository(postgres::pool& db, session_bounds bounds)
    : db_(db),
      bounds_(bounds)
{
    for (const auto& statement : all_statements)
        db_.prepare(statement);
}

awaitable<std::optional<user>> sign_in_repository::find_user(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        return read_user(postgres::exec_prepared(tx, find_user_by_id.name, account.text()));
    });
}

awaitable<std::optional<user>> sign_in_repository::find_user_by_email(std::string email)
{
    return db_.transact([email](pqxx::work& tx) {
        return read_user(postgres::exec_prepared(tx, find_user_by_address.name, email));
    });
}

awaitable<result<account>> sign_in_repository::set_password(account_id id,
                                                            std::string password_hash)
{
    return db_.transact([id, password_hash](pqxx::work& tx) { return put(tx, id, password_hash); });
}

awaitable<result<account>> sign_in_repository::begin_reset(account_id id, std::string token_digest)
{
    return db_.transact([id, token_digest](pqxx::work& tx) -> result<account> {
        const auto rows = postgres::exec_prepared(tx, find_user_by_id.name, id.text());
        if (rows.empty())
            return no_such_account(id);
        postgres::exec_prepared0(tx, put_reset.name, id.text(), pqxx::binarystring(token_digest),
                                 std::chrono::seconds(reset_lifetime).count());
        return read_account(rows[0]);
    });
}

awaitable<result<account>> sign_in_repository::reset_password(std::string token_digest,
                                                              std::string password_hash)
{
    return db_.transact([token_digest, password_hash](pqxx::work& tx) -> result<account> {
        postgres::exec_prepared(tx, lock_reset_account.name, pqxx::binarystring(token_digest));
        const auto rows =
            postgres::exec_prepared(tx, take_reset.name, pqxx::binarystring(token_digest));
        if (rows.empty() || !column<bool>(rows[0], "is_valid"))
            return failure{errc::invalid_argument,
                           "token is not valid: it was used, replaced, or is older than an hour"};
        return put(tx, column<account_id>(rows[0], "account_id"), password_hash);
    });
}

awaitable<bool> sign_in_repository::open_session(std::string digest, account_id account,
                                                 std::string password_hash)
{
    return db_.transact([digest, account, password_hash,
                         idle_timeout = bounds_.idle_timeout.count()](pqxx::work& tx) {
        return postgres::exec_prepared(tx, insert_session.name, pqxx::binarystring(digest),
                                       account.text(), idle_timeout, password_hash)
                   .affected_rows() == 1;
    });
}

awaitable<std::optional<account>> sign_in_repository::find_session(std::string digest)
{
    return db_.transact([digest, bounds = bounds_](pqxx::work& tx) -> std::optional<account> {
        const pqxx::binarystring id(digest);
        const auto rows = postgres::exec_prepared(
            tx, find_by_session.name, id, bounds.idle_timeout.count(), bounds.max_lifetime.count());
        if (rows.empty())
            return std::nullopt;
        if (column<bool>(rows[0], "is_to_slide"))
            postgres::exec_prepared0(tx, slide_session.name, id, bounds.idle_timeout.count(),
                                     bounds.max_lifetime.count());
        return read_account(rows[0]);
    });
}

awaitable<void> sign_in_repository::end_session(std::string digest)
{
    return db_.transact([digest](pqxx::work& tx) {
        postgres::exec_prepared0(tx, delete_session.name, pqxx::binarystring(digest));
    });
}

awaitable<int> sign_in_repository::end_sessions(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        return static_cast<int>(
            postgres::exec_prepared(tx, delete_sessions.name, account.text()).affected_rows());
    });
}

awaitable<void> sign_in_repository::put_code(std::string_view email, std::string_view code)
{
    auto address = to_lower_ascii(email);
    auto digest = sign_up_code_digest(address, code);
    return db_.transact([address = std::move(address), digest = std::move(digest)](pqxx::work& tx) {
        postgres::exec_prepared0(tx, put_sign_up.name, address, pqxx::binarystring(digest),
                                 std::chrono::seconds(code_lifetime).count());
    });
}

awaitable<bool> sign_in_repository::take_code(std::string_view email, std::string_view code)
{
    auto address = to_lower_ascii(email);
    auto digest = sign_up_code_digest(address, code);
    return db_.transact([address = std::move(address), digest = std::move(digest)](pqxx::work& tx) {
        const auto rows = postgres::exec_prepared(tx, count_guess.name, address, max_wrong_codes,
                                                  pqxx::binarystring(digest));
        if (rows.empty() || !column<bool>(rows[0], "is_right"))
            return false;
        postgres::exec_prepared0(tx, delete_sign_up.name, address);
        return true;
    });
}

awaitable<attempt_status> sign_in_repository::begin_attempt(uuid attempt,
                                                            std::vector<attempt_subject> subjects)
{
    // Everyone locks in the same order, so that nobody deadlocks.
    std::sort(subjects.begin(), subjects.end(),
              [](const auto& a, const auto& b) { return a.digest < b.digest; });
    return db_.transact([attempt, subjects = std::move(subjects)](pqxx::work& tx) {
        for (const auto& subject : subjects)
            postgres::exec_prepared1(tx, lock_subject.name, pqxx::binarystring(subject.digest));
        for (const auto& subject : subjects)
            if (const auto status = judge(tx, subject); !status.is_allowed)
                return status;
        for (const auto& subject : subjects)
            postgres::exec_prepared0(tx, insert_attempt.name, pqxx::binarystring(subject.digest),
                                     attempt.text());
        return attempt_status();
    });
}

awaitable<void> sign_in_repository::take_back_attempt(uuid attempt,
                                                      std::vector<attempt_subject> subjects)
{
    return db_.transact([attempt, subjects = std::move(subjects)](pqxx::work& tx) {
        for (const auto& subject : subjects)
            postgres::exec_prepared0(tx, delete_attempt.name, pqxx::binarystring(subject.digest),
                                     attempt.text());
    });
}

awaitable<void> sign_in_repository::reset_attempts(attempt_subject subject)
{
    return db_.transact([subject](pqxx::work& tx) {
        postgres::exec_prepared0(tx, delete_attempts.name, pqxx::binarystring(subject.digest));
    });
}

// Each kind in a transaction of its own: none waits for rows of another while it holds its own.
awaitable<int> sign_in_repository::purge()
{
    auto purging_sessions = db_.transact([](pqxx::work& tx) {
        return static_cast<int>(
            postgres::exec_prepared(tx, purge_sessions.name, batch_size).affected_rows());
    });
    const int sessions = co_await std::move(purging_sessions);
    auto purging_attempts = db_.transact([](pqxx::work& tx) {
        return static_cast<int>(
            postgres::exec_prepared(tx, purge_attempts.name, batch_size, window_seconds)
                .affected_rows());
    });
    const int attempts = co_await std::move(purging_attempts);
    auto purging_the_rest = db_.transact([](pqxx::work& tx) {
        postgres::exec_prepared0(tx, purge_resets.name);
        postgres::exec_prepared0(tx, purge_sign_ups.name);
    });
    co_await std::move(purging_the_rest);
    co_return std::max(sessions, attempts);
}

} // namespace tempinbox::accounts
