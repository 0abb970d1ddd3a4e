#pragma once

#include "accounts/account.hpp"

#include <pqxx/pqxx>

#include <string>

namespace tempinbox::accounts {

// The limits of a plan: columns of accounts.plans, or of a view that prefixes their names.
plans::plan_limits read_limits(const pqxx::row& row, const std::string& prefix = "");

// A row of the view accounts.states.
plans::account_state read_state(const pqxx::row& row);
// The same with its email address and age.
account read_account(const pqxx::row& row);

} // namespace tempinbox::accounts
