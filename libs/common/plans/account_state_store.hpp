#pragma once

#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::plans {

// The table `<schema>.account_states(account_id uuid primary key, version bigint, state bytea)`
// with a serialised AccountState in `state`: each schema's own copy of the topic account.state.
// Used inside the caller's transactions.
void put(pqxx::work& tx, const std::string& schema,
         const std::vector<account_state>& states); // the higher version wins
std::optional<account_state> find(pqxx::work& tx, const std::string& schema, account_id account);

} // namespace tempinbox::plans
