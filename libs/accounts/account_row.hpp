#pragma once

#include "accounts/account_store.hpp"

namespace tempinbox::accounts {

// A row of the view accounts.states with its email address and age.
account read_account(const pqxx::row& row);

} // namespace tempinbox::accounts
