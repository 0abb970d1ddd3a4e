#pragma once

#include "accounts/session_store.hpp"
#include "accounts/user_store.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/dashboard_api/attempt_gate.hpp"
#include "gateway/dashboard_api/event_stream.hpp"
#include "gateway/dashboard_api/session_issuer.hpp"
#include "gateway/sessions/password_hasher.hpp"

#include <vector>

namespace tempinbox::gateway {

enum class sign_up { open, closed };
http::response sign_up_is_closed();

// Accounts with a password, and the sessions that they open. Failures are counted by address before
// an account is looked up, and by account before a password is looked at; an address nobody has
// takes as long, and is answered the same, as a wrong password.
class sign_in_handlers
{
public:
    // All outlive the desk.
    sign_in_handlers(accounts::account_store& accounts, accounts::user_store& users,
                     accounts::session_store& sessions, attempt_gate& gate, password_hasher& hasher,
                     session_issuer& issuer, event_stream& stream, sign_up how, bool sends_mail);
    sign_in_handlers(const sign_in_handlers&) = delete;

    // Those that need no session, and those that do. Sign-up stands apart: it is another one where
    // mail is sent.
    std::vector<route> sign_up_operations();
    std::vector<route> open_operations();
    std::vector<route> operations();

private:
    awaitable<http::response> get_settings(const http::request& received, const caller& who);
    awaitable<http::response> create_account(const http::request& received, const caller& who);
    awaitable<http::response> sign_in(const http::request& received, const caller& who);
    awaitable<http::response> show_session(const http::request& received, const caller& who);
    awaitable<http::response> sign_out(const http::request& received, const caller& who);
    awaitable<http::response> sign_out_everywhere(const http::request& received, const caller& who);

    accounts::account_store& accounts_;
    accounts::user_store& users_;
    accounts::session_store& sessions_;
    attempt_gate& gate_;
    password_hasher& hasher_;
    session_issuer& issuer_;
    event_stream& event_stream_; // a session that ends takes its streams along
    sign_up sign_up_;
    bool sends_mail_;
};

} // namespace tempinbox::gateway
