#include "mailbox/account_store.hpp"

#include "common/plans/account_state_store.hpp"

namespace tempinbox::mailbox {

awaitable<void> account_store::put(std::vector<plans::account_state> states)
{
    return db_.transact([states = std::move(states)](pqxx::work& tx) { plans::put(tx, schema, states); });
}

awaitable<void> account_store::mark_deleted(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        auto known = plans::find(tx, schema, account);
        if (!known || known->is_deleted)
            return;
        known->is_deleted = true;
        ++known->version;
        plans::put(tx, schema, {*known});
    });
}

awaitable<std::optional<plans::account_state>> account_store::find(account_id account)
{
    return db_.transact([account](pqxx::work& tx) { return plans::find(tx, schema, account); });
}

} // namespace tempinbox::mailbox
