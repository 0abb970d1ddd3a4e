#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/inbox_creation.hpp"
#include "mailbox/types.hpp"

#include <cstdint>
#include <vector>

namespace tempinbox::mailbox {

// The steps of transactions that create logins; they throw as pqxx does. Their callers hold the
// lock of the account (account_lock.hpp).

// To be prepared before the steps are used.
std::vector<postgres::statement> login_statements();

// The live logins of an account.
std::int64_t count_logins(pqxx::work& tx, account_id account);

// permission_denied if the plan has no place for a login beside those.
result<void> check_capture_limit(const plans::account_state& account, std::int64_t live_logins,
                                 time_point now);

// Gives a live inbox without a login one, with a new user.
capture_login insert_login(pqxx::work& tx, account_id account, inbox_id inbox,
                           const new_login& login);

// Gives a live login that was created by the same request another password, and ends that before.
// Returns whether there is one.
bool replace_password(pqxx::work& tx, account_id account, const new_login& login);

capture_login read_login(const pqxx::row& row);

} // namespace tempinbox::mailbox
