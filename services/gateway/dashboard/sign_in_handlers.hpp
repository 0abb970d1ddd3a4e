#pragma once

#include "accounts/account_repository.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/access/password_hasher.hpp"
#include "gateway/dashboard/attempt_gate.hpp"
#include "gateway/dashboard/event_stream.hpp"
#include "gateway/dashboard/session_issuer.hpp"
#include "gateway/routes/routes.hpp"

#include <vector>

namespace tempinbox::gateway {

enum class sign_up { open, closed };
http::response sign_up_is_closed();

// Sign-up and sign-in with a password, and sessions. A failure is counted by client address before
// an account is looked up, and by account before its password is checked. An email address without
// an account takes as long, and gets the same response, as a wrong password.
class sign_in_handlers
{
public:
    // All arguments outlive the handlers.
    sign_in_handlers(accounts::account_repository& accounts, accounts::sign_in_repository& sign_in,
                     attempt_gate& gate, password_hasher& hasher, session_issuer& issuer,
                     event_stream& stream, sign_up how, bool sends_mail);
    sign_in_handlers(const sign_in_handlers&) = delete;

    // The operations that need no session, and those that do. sign_up_operations is separate
    // because email_verification_handlers replaces it when the gateway sends mail.
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

    accounts::account_repository& accounts_;
    accounts::sign_in_repository& sign_in_;
    attempt_gate& gate_;
    password_hasher& hasher_;
    session_issuer& issuer_;
    event_stream& event_stream_; // a session that ends ends its streams
    sign_up sign_up_;
    bool sends_mail_;
};

} // namespace tempinbox::gateway
