#pragma once

#include "common/core/lru_cache.hpp"
#include "common/plans/account_state.hpp"

#include <optional>

namespace tempinbox::mail_ingest {

// Cache of what accounts may receive, from lookups and from topic account.state. The higher version
// wins, whichever way it came, and a deleted account stays deleted.
class account_limits
{
public:
    explicit account_limits(std::size_t max_accounts) : cached_(max_accounts) {}

    void put(const plans::account_state& state)
    {
        const auto* cached = cached_.find(state.account);
        if (cached && cached->is_deleted)
            return;
        if (!cached || state.is_deleted || cached->version < state.version)
            cached_.put(state.account, state);
    }

    // The largest message; 0 for a deleted account; absent if the account is not cached.
    std::optional<std::uint64_t> max_message_bytes(account_id account, time_point now)
    {
        const auto* cached = cached_.find(account);
        if (!cached)
            return std::nullopt;
        return cached->is_deleted
                   ? 0
                   : static_cast<std::uint64_t>(cached->limits_at(now).max_message_bytes);
    }

private:
    lru_cache<account_id, plans::account_state> cached_;
};

} // namespace tempinbox::mail_ingest
