#pragma once

#include "common/core/ids.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>

namespace tempinbox::mail_ingest {

// Bounds how many connections wait on purpose at once, in all and for one account, so that the
// waits of one take nobody's place.
class delay_slots
{
public:
    static constexpr std::size_t max_slots = 100;
    static constexpr std::size_t max_slots_per_account = 10;

    // Held during the wait; may outlive this.
    using slot = std::shared_ptr<const void>;

    // Null if there is none left.
    slot take(account_id account)
    {
        auto& taken = state_->of_account[account];
        if (state_->total >= max_slots || taken >= max_slots_per_account) {
            if (taken == 0)
                state_->of_account.erase(account);
            return nullptr;
        }
        ++taken;
        ++state_->total;
        return {state_.get(),
                [state = state_, account](const void*) { state->give_back(account); }};
    }

private:
    struct state
    {
        std::size_t total = 0;
        std::unordered_map<account_id, std::size_t> of_account;

        void give_back(account_id account)
        {
            --total;
            const auto taken = of_account.find(account);
            if (--taken->second == 0)
                of_account.erase(taken);
        }
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace tempinbox::mail_ingest
