#pragma once

#include "common/plans/account_state.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

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

} // namespace tempinbox::accounts
