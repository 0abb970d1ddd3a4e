#pragma once

#include "accounts/sign_up_store.hpp"
#include "accounts/user_store.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/account_email/mail_relay.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/dashboard_api/attempt_gate.hpp"
#include "gateway/dashboard_api/session_issuer.hpp"
#include "gateway/dashboard_api/sign_in_handlers.hpp"
#include "gateway/sessions/password_hasher.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// Sign-up and forgotten passwords by mail, where the operator has set a relay. What is answered is
// the same, and as soon, for addresses with an account and without: only the mail tells them apart.
// An address is sent five letters in ten minutes at most.
class email_verification_handlers
{
public:
    // All outlive the desk.
    email_verification_handlers(accounts::account_store& accounts, accounts::user_store& users,
                                accounts::sign_up_store& sign_ups, attempt_gate& gate,
                                password_hasher& hasher, session_issuer& issuer, mail_relay& relay,
                                sign_up how);
    email_verification_handlers(const email_verification_handlers&) = delete;

    bool is_set() const { return relay_.is_set(); }
    // All need no session. The sign-up stands in place of the desk's that mails nothing.
    std::vector<route> sign_up_operations();
    std::vector<route> operations();

private:
    awaitable<http::response> begin_sign_up(const http::request& received, const caller& who);
    awaitable<http::response> confirm_sign_up(const http::request& received, const caller& who);
    awaitable<http::response> begin_reset(const http::request& received, const caller& who);

    awaitable<void> send_code(std::string email);
    awaitable<void> send_link(std::string email);
    awaitable<bool> may_send_email(std::string email);

    accounts::account_store& accounts_;
    accounts::user_store& users_;
    accounts::sign_up_store& sign_ups_;
    attempt_gate& gate_;
    password_hasher& hasher_;
    session_issuer& issuer_;
    mail_relay& relay_;
    sign_up sign_up_;
};

} // namespace tempinbox::gateway
