#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <vector>

namespace tempinbox::mailbox {

// The mailbox's own copy of topic account.state, for inbox and mail-ingest. Throws if PostgreSQL
// cannot be reached.
class account_state_repository
{
public:
    explicit account_state_repository(postgres::pool& db) : db_(db) {}

    // The higher version wins.
    awaitable<void> put(std::vector<plans::account_state> states);
    // Stores the topic's tombstone with its version. The state stays as deleted, even if none was
    // known, so that a late state does not bring the account back. The account's inboxes are queued
    // to be ended (expiry_repository::expire_of_deleted).
    awaitable<void> mark_deleted(account_id account, std::int64_t version);
    awaitable<std::optional<plans::account_state>> find(account_id account);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
