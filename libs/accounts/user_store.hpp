#pragma once

#include "accounts/account_store.hpp"
#include "common/core/awaitable.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace tempinbox::accounts {

// Who may sign in.
struct user
{
    account record;
    std::string password_hash; // empty: none was ever set, nobody can sign in
};

// Passwords in PostgreSQL, as argon2id hashes. Refusals are values; an unreachable PostgreSQL
// throws.
class user_store
{
public:
    static constexpr std::chrono::hours reset_lifetime{1};

    explicit user_store(postgres::pool& db);

    awaitable<std::optional<user>> find_by_email(std::string email);
    awaitable<std::optional<user>> find(account_id account);
    // Sets or changes the password and ends the account's sessions and reset link; not_found for an
    // unknown account.
    awaitable<result<account>> set_password(account_id account, std::string password_hash);

    // Creates a reset link that works once within an hour; an older one of the account ends.
    // not_found for an unknown account.
    awaitable<result<account>> begin_reset(account_id account, std::string token_digest);
    // Sets the password and ends the link and all sessions; invalid_argument for a token that is
    // wrong, used or expired.
    awaitable<result<account>> reset_password(std::string token_digest, std::string password_hash);
    // Purges expired links and sign-ups.
    awaitable<void> purge();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
