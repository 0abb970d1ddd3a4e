#pragma once

#include "accounts/state_events.hpp"
#include "common/core/awaitable.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::accounts {

// In the operator's one currency. The amount is a decimal number without needless zeros, such as 3
// or 4.99; the period is what it pays for: none (a free plan), once, month.
struct price
{
    std::string amount;
    std::string period;
};

struct plan
{
    std::string name;
    price cost;
    plans::plan_limits limits;
};

// The values to change; an absent one stays as it is.
struct plan_change
{
    std::map<std::string, std::int64_t, std::less<>> limits; // by name (plans::limit), as numbers
    std::optional<std::string>
        price_amount; // a decimal number with at most two decimals, 0 to 99,999,999.99
    std::optional<std::string> price_period;
};

// The table of plans. A change publishes account.state for every account it affects, in the same
// transaction: the accounts on the plan and, for the free plan, also those whose plan ends.
class plan_repository
{
public:
    plan_repository(postgres::pool& db, state_publisher publisher);

    // From the smallest plan to the largest.
    awaitable<std::vector<plan>> list();
    // not_found for an unknown plan, invalid_argument for numbers that contradict each other. The
    // names must be those of limits.
    awaitable<result<plan>> set(std::string name, plan_change requested);

private:
    postgres::pool& db_;
    state_publisher publisher_;
};

} // namespace tempinbox::accounts
