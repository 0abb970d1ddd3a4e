#include "mailbox/account_state_repository.hpp"

#include "common/plans/account_state_store.hpp"

namespace tempinbox::mailbox {

awaitable<void> account_state_repository::put(std::vector<plans::account_state> states)
{
    return db_.transact(
        [states = std::move(states)](pqxx::work& tx) { plans::put(tx, schema, states); });
}

awaitable<void> account_state_repository::mark_deleted(account_id account, std::int64_t version)
{
    return db_.transact([account, version](pqxx::work& tx) {
        plans::account_state unknown;
        unknown.account = account;
        auto deleted = plans::find(tx, schema, account).value_or(unknown);
        if (deleted.is_deleted && deleted.version >= version)
            return;
        // A deleted account never returns, so the tombstone holds even against a higher stored
        // version.
        deleted.version = deleted.version < version ? version : deleted.version + 1;
        deleted.is_deleted = true;
        plans::put(tx, schema, {deleted});
    });
}

awaitable<std::optional<plans::account_state>> account_state_repository::find(account_id account)
{
    return db_.transact([account](pqxx::work& tx) { return plans::find(tx, schema, account); });
}

} // namespace tempinbox::mailbox
