#include "mailbox/account_lock.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/types.hpp"

namespace tempinbox::mailbox {

using postgres::column;

std::map<account_id, plans::account_state>
lock_accounts(pqxx::work& tx, const std::vector<plans::account_state>& known)
{
    std::map<account_id, plans::account_state> newest;
    for (const auto& state : known) {
        const auto [kept, is_new] = newest.try_emplace(state.account, state);
        if (!is_new && kept->second.version < state.version)
            kept->second = state;
    }
    std::vector<account_id> accounts;
    accounts.reserve(newest.size());
    for (const auto& [account, state] : newest)
        accounts.push_back(account);
    std::map<account_id, std::int64_t> stored;
    for (const auto& row :
         postgres::exec_prepared(tx, lock_account_states.name, postgres::to_array(accounts)))
        stored.emplace(column<account_id>(row, "account_id"), column<std::int64_t>(row, "version"));

    std::vector<plans::account_state> to_store;
    for (auto& [account, state] : newest) {
        const auto version = stored.find(account);
        if (version == stored.end() || version->second < state.version)
            to_store.push_back(state);
        else if (version->second > state.version)
            state = plans::find(tx, schema, account).value();
    }
    plans::put(tx, schema, to_store);
    return newest;
}

} // namespace tempinbox::mailbox
