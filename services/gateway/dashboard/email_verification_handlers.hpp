#pragma once

#include "accounts/account_repository.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/access/password_hasher.hpp"
#include "gateway/dashboard/attempt_gate.hpp"
#include "gateway/dashboard/mail_relay.hpp"
#include "gateway/dashboard/session_issuer.hpp"
#include "gateway/dashboard/sign_in_handlers.hpp"
#include "gateway/routes/routes.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// Sign-up and password reset by email, if the operator has set a relay. The response and its timing
// are the same for addresses with and without an account; only the email differs. An address gets
// at most five messages in ten minutes.
class email_verification_handlers
{
public:
    // All arguments outlive the handlers.
    email_verification_handlers(accounts::account_repository& accounts,
                                accounts::sign_in_repository& sign_in, attempt_gate& gate,
                                password_hasher& hasher, session_issuer& issuer, mail_relay& relay,
                                sign_up how);
    email_verification_handlers(const email_verification_handlers&) = delete;

    bool is_set() const { return relay_.is_set(); }
    // No operation needs a session. sign_up_operations replaces sign_in_handlers' sign-up, which
    // sends no mail.
    std::vector<route> sign_up_operations();
    std::vector<route> operations();

private:
    awaitable<http::response> begin_sign_up(const http::request& received, const caller& who);
    awaitable<http::response> confirm_sign_up(const http::request& received, const caller& who);
    awaitable<http::response> begin_reset(const http::request& received, const caller& who);

    awaitable<void> send_code(std::string email);
    awaitable<void> send_link(std::string email);
    awaitable<bool> may_send_email(std::string email);

    accounts::account_repository& accounts_;
    accounts::sign_in_repository& sign_in_;
    attempt_gate& gate_;
    password_hasher& hasher_;
    session_issuer& issuer_;
    mail_relay& relay_;
    sign_up sign_up_;
};

} // namespace tempinbox::gateway
