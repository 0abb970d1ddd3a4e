#pragma once

#include "common/core/ids.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

namespace tempinbox::webhooks {

// To be called by each repository whose transactions call the functions below.
void prepare_config_changes(postgres::pool& db);

// First step of each transaction that changes an account's endpoints, rules or plan: takes the next
// version of the account's configuration and thereby the lock that serializes such transactions.
void begin_config_change(pqxx::work& tx, account_id account);
// The same if the account has a configuration; otherwise makes none and returns false.
bool begin_config_change_if_any(pqxx::work& tx, account_id account);

// Stores the account's state from the request unless a newer version is stored already; returns the
// newer one.
plans::account_state update_account_state(pqxx::work& tx, const plans::account_state& given);

} // namespace tempinbox::webhooks
