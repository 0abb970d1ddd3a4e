#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/plans/plan_limits.hpp"

#include "tempinbox/accounts/v1/account_state.pb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tempinbox::plans {

// What a service knows of an account. The higher version wins.
struct account_state
{
    account_id account;
    std::string plan = "free";
    std::optional<time_point> plan_ends_at;
    plan_limits limits;
    plan_limits limits_after_end; // the free plan's
    std::int64_t version = 0;
    bool is_deleted = false;

    // The end of a pass needs no event: every reader compares with the clock.
    bool has_ended(time_point now) const { return plan_ends_at && *plan_ends_at <= now; }
    const plan_limits& limits_at(time_point now) const
    {
        return has_ended(now) ? limits_after_end : limits;
    }
    std::string plan_at(time_point now) const { return has_ended(now) ? "free" : plan; }
};

accounts::v1::PlanLimits to_proto(const plan_limits& limits);
plan_limits from_proto(const accounts::v1::PlanLimits& message);

accounts::v1::AccountState to_proto(const account_state& state);
// Fails on a bad account id.
result<account_state> from_proto(const accounts::v1::AccountState& message);

} // namespace tempinbox::plans
