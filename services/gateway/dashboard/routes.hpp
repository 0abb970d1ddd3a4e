#pragma once

#include "accounts/key_repository.hpp"
#include "gateway/dashboard/email_verification_handlers.hpp"
#include "gateway/dashboard/event_stream.hpp"
#include "gateway/dashboard/password_handlers.hpp"
#include "gateway/dashboard/sign_in_handlers.hpp"
#include "gateway/resources/operations.hpp"

#include <vector>

namespace tempinbox::gateway {

// The operations that need a session: those of the API below /dashboard/api, plans, keys, events,
// and the session itself. All arguments outlive the routes.
std::vector<route> dashboard_operations(const operation_services& services,
                                        accounts::key_repository& keys, sign_in_handlers& sign_ins,
                                        password_handlers& passwords, event_stream& stream,
                                        const session_issuer& issuer);
// The operations that need no session.
std::vector<route> open_dashboard_operations(sign_in_handlers& sign_ins,
                                             password_handlers& passwords,
                                             email_verification_handlers& email_verification);

} // namespace tempinbox::gateway
