#pragma once

#include "common/core/lru_cache.hpp"
#include "common/plans/account_state.hpp"

#include <optional>

namespace tempinbox::mail_ingest {

// What accounts may receive, by look-ups and by what topic account.state says: the higher version
// wins, whichever way it came, and a deleted account stays deleted.
class account_limits
{
public:
    explicit account_limits(std::size_t most) : known_(most) {}

    void put(const plans::account_state& state)
    {
        const auto* known = known_.find(state.account);
        if (known && known->is_deleted)
            return;
        if (!known || state.is_deleted || known->version < state.version)
            known_.put(state.account, state);
    }

    // The largest message; 0 for a deleted account; absent where the account has to be looked up.
    std::optional<std::uint64_t> largest_message(account_id account, time_point now)
    {
        const auto* known = known_.find(account);
        if (!known)
            return std::nullopt;
        return known->is_deleted
                   ? 0
                   : static_cast<std::uint64_t>(known->limits_at(now).max_message_bytes);
    }

private:
    lru_cache<account_id, plans::account_state> known_;
};

} // namespace tempinbox::mail_ingest
