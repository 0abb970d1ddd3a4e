#pragma once

#include "common/core/ids.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <map>
#include <vector>

namespace tempinbox::mailbox {

// Serializes what is created for an account against its plan's numbers. To be prepared before
// lock_accounts.
inline constexpr postgres::statement lock_account_states{"mailbox_lock_accounts", R"(
    SELECT s.account_id, s.version FROM mailbox.account_states AS s
    WHERE s.account_id = ANY ($1::uuid[])
    ORDER BY s.account_id FOR NO KEY UPDATE)"};

// Locks the accounts in the order of their ids until the transaction ends. Stores and returns the
// newest of the known and the stored states.
std::map<account_id, plans::account_state>
lock_accounts(pqxx::work& tx, const std::vector<plans::account_state>& known);

} // namespace tempinbox::mailbox
