#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include "tempinbox/accounts/v1/account_state.pb.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tempinbox::plans {

// The limits of a plan, kept in accounts.plans and listed in docs/api.md. Zero: none; for
// requests_per_day and burst_per_second: unlimited.
struct plan_limits
{
    bool api_access = false;
    std::int64_t requests_per_day = 0;
    int burst_per_second = 0;
    int live_inboxes = 1;
    std::chrono::seconds default_ttl{3'600};
    std::chrono::seconds max_ttl{3'600};
    std::int64_t max_message_bytes = 5 * 1024 * 1024;
    int webhooks = 0;
    int api_keys = 0;
    int routing_rules = 0;

    friend bool operator==(const plan_limits&, const plan_limits&) = default;
};

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

accounts::v1::AccountState to_proto(const account_state& state);
// Fails on a bad account id.
result<account_state> from_proto(const accounts::v1::AccountState& message);

} // namespace tempinbox::plans
