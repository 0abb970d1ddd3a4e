#pragma once

#include "accounts/sign_in_repository.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/access/password_hasher.hpp"
#include "gateway/dashboard/attempt_gate.hpp"
#include "gateway/dashboard/event_stream.hpp"
#include "gateway/dashboard/session_issuer.hpp"
#include "gateway/routes/routes.hpp"

#include <vector>

namespace tempinbox::gateway {

// How long a password may be, in characters.
inline constexpr std::size_t min_password_length = 10;
inline constexpr std::size_t max_password_length = 200;

// Sets a new password, given the old one or a link that works once. Each change ends the account's
// sessions.
class password_handlers
{
public:
    // All arguments outlive the handlers.
    password_handlers(accounts::sign_in_repository& sign_in, attempt_gate& gate,
                      password_hasher& hasher, session_issuer& issuer, event_stream& stream);
    password_handlers(const password_handlers&) = delete;

    // The operations that need no session, and those that do.
    std::vector<route> open_operations();
    std::vector<route> operations();

private:
    awaitable<http::response> change(const http::request& received, const caller& who);
    awaitable<http::response> reset(const http::request& received, const caller& who);

    accounts::sign_in_repository& sign_in_;
    attempt_gate& gate_;
    password_hasher& hasher_;
    session_issuer& issuer_;
    event_stream& event_stream_; // a new password ends every session, and so every stream
};

} // namespace tempinbox::gateway
