#pragma once

#include "accounts/account.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::accounts {

// Who may sign in.
struct user
{
    account record;
    std::string password_hash; // empty: none was ever set, nobody can sign in
};

// How long a session lasts.
struct session_bounds
{
    std::chrono::seconds idle_timeout{7 * 24 * 3600};  // since it was last used
    std::chrono::seconds max_lifetime{30 * 24 * 3600}; // since sign-in
};

// Whom an attempt counts against, and how many are allowed within the window.
struct attempt_subject
{
    std::string digest; // names stay out of the table
    int max_attempts = 0;

    attempt_subject(std::string_view kind, std::string_view name, int limit);
};

struct attempt_status
{
    bool is_allowed = true;
    std::chrono::seconds retry_after{0};
    std::string subject_digest; // if not allowed: the subject that reached its limit
};

// What signing in to an account needs, in PostgreSQL: passwords as argon2id hashes; sessions, links
// and sign-up codes as digests; recent attempts. A deleted account has none of it. Refusals are
// values; an unreachable PostgreSQL throws.
class sign_in_repository
{
public:
    static constexpr std::chrono::hours reset_lifetime{1};
    static constexpr std::chrono::minutes code_lifetime{15};
    static constexpr int max_wrong_codes = 5;
    static constexpr std::chrono::minutes attempt_window{10};
    static constexpr int batch_size = 1'000;

    explicit sign_in_repository(postgres::pool& db, session_bounds bounds = {});

    awaitable<std::optional<user>> find_user(account_id account);
    awaitable<std::optional<user>> find_user_by_email(std::string email);
    // Sets or changes the password and ends the account's sessions and reset link; not_found for an
    // unknown account.
    awaitable<result<account>> set_password(account_id account, std::string password_hash);

    // Creates a reset link that works once within an hour; an older one of the account ends.
    // not_found for an unknown account.
    awaitable<result<account>> begin_reset(account_id account, std::string token_digest);
    // Sets the password and ends the link and all sessions; invalid_argument for a token that is
    // wrong, used or expired.
    awaitable<result<account>> reset_password(std::string token_digest, std::string password_hash);

    // False if the password that was checked is no longer the account's.
    awaitable<bool> open_session(std::string digest, account_id account, std::string password_hash);
    // The account of a session, whose expiry it extends. Absent: unknown, ended, or timed out.
    awaitable<std::optional<account>> find_session(std::string digest);
    awaitable<void> end_session(std::string digest);
    // Ends all sessions of an account; returns how many there were.
    awaitable<int> end_sessions(account_id account);
    const session_bounds& bounds() const { return bounds_; }

    // Email addresses that asked for an account and were sent a code. A new code replaces an
    // address's older one.
    awaitable<void> put_code(std::string_view email, std::string_view code);
    // Whether the code is the address's; if so it is used up, otherwise the wrong guess is counted.
    awaitable<bool> take_code(std::string_view email, std::string_view code);

    // The attempts of the last ten minutes, over all replicas. An attempt is recorded before it is
    // made, so that concurrent ones cannot pass the limit together; one that succeeds is taken
    // back.

    // Records the attempt for each subject, or for none if one of them has reached its limit.
    awaitable<attempt_status> begin_attempt(uuid attempt, std::vector<attempt_subject> subjects);
    // The attempt succeeded: it counts against nobody.
    awaitable<void> take_back_attempt(uuid attempt, std::vector<attempt_subject> subjects);
    // Deletes every attempt counted against the subject.
    awaitable<void> reset_attempts(attempt_subject subject);

    // Purges up to batch_size sessions and as many attempts whose time is over, and all such links
    // and codes. Returns the larger of the first two counts.
    awaitable<int> purge();

private:
    postgres::pool& db_;
    session_bounds bounds_;
};

} // namespace tempinbox::accounts
