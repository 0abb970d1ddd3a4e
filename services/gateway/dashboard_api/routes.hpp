#pragma once

#include "accounts/key_store.hpp"
#include "accounts/plan_store.hpp"
#include "gateway/api/operations.hpp"
#include "gateway/dashboard_api/mail_feed.hpp"
#include "gateway/dashboard_api/mailed.hpp"
#include "gateway/dashboard_api/passwords.hpp"
#include "gateway/dashboard_api/sign_in.hpp"

#include <vector>

namespace tempinbox::gateway {

// What a session opens: the operations of the API below /dashboard/api, plans, keys, events, and
// the session itself. All outlive the routes.
std::vector<route> dashboard_operations(const operation_services& services,
                                        accounts::plan_store& plans, accounts::key_store& keys,
                                        sign_in_desk& sign_ins, password_desk& passwords,
                                        mail_feed& feed, const session_opener& opener);
// What is open to everybody.
std::vector<route> open_dashboard_operations(sign_in_desk& sign_ins, password_desk& passwords,
                                             mailed_desk& mailed);

} // namespace tempinbox::gateway
