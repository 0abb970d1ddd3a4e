#pragma once

#include "accounts/account_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/secret.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace tempinbox::accounts {

// How long a session lasts.
struct session_bounds
{
    std::chrono::seconds idle_timeout{7 * 24 * 3600};  // since it was last used
    std::chrono::seconds max_lifetime{30 * 24 * 3600}; // since sign-in
};

// The browser's token: 256 random bits as text. Only its digest is stored.
secret make_session_token();
std::string session_digest(std::string_view token);

// Sessions in PostgreSQL, by digest. A deleted account has none. Throws when PostgreSQL cannot be
// reached.
class session_store
{
public:
    static constexpr int batch_size = 1'000;

    explicit session_store(postgres::pool& db, session_bounds bounds = {});

    // False if the password that was checked is no longer the account's.
    awaitable<bool> open(std::string digest, account_id account, std::string password_hash);
    // The account of a session, whose expiry it extends. Absent: unknown, ended, or timed out.
    awaitable<std::optional<account>> find(std::string digest);
    awaitable<void> end(std::string digest);
    // Ends all sessions of an account; returns how many there were.
    awaitable<int> end_all(account_id account);
    // Purges up to batch_size sessions that timed out; returns how many.
    awaitable<int> purge();

    const session_bounds& bounds() const { return bounds_; }

private:
    postgres::pool& db_;
    session_bounds bounds_;
};

} // namespace tempinbox::accounts
