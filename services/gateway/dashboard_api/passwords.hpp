#pragma once

#include "accounts/user_store.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/dashboard_api/attempt_gate.hpp"
#include "gateway/dashboard_api/mail_feed.hpp"
#include "gateway/dashboard_api/session_opener.hpp"
#include "gateway/sessions/password_hasher.hpp"

#include <vector>

namespace tempinbox::gateway {

// How long a password may be, in characters.
inline constexpr std::size_t shortest_password = 10;
inline constexpr std::size_t longest_password = 200;

// New passwords: with the old one, or with a link that is good once. Each ends the account's
// sessions.
class password_desk
{
public:
    // All outlive the desk.
    password_desk(accounts::user_store& users, attempt_gate& gate, password_hasher& hasher,
                  session_opener& opener, mail_feed& feed);
    password_desk(const password_desk&) = delete;

    // Those that need no session, and those that do.
    std::vector<route> open_operations();
    std::vector<route> operations();

private:
    awaitable<http::response> change(const http::request& received, const caller& who);
    awaitable<http::response> reset(const http::request& received, const caller& who);

    accounts::user_store& users_;
    attempt_gate& gate_;
    password_hasher& hasher_;
    session_opener& opener_;
    mail_feed& feed_; // a new password ends every session, and so every stream
};

} // namespace tempinbox::gateway
