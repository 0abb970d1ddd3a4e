#pragma once

#include "common/core/time.hpp"

#include <chrono>
#include <cstdint>

namespace tempinbox::rate_limit {

// A UTC calendar day: the window of the quota (design: decided where the spec is silent).
using day = std::chrono::sys_days;

day day_of(time_point now);

// The next 00:00 UTC in Unix seconds: X-RateLimit-Reset.
std::int64_t reset_after(day today);

// What an account has had of its day.
struct usage
{
    std::int64_t used = 0;
    std::int64_t limit = 0; // 0: unlimited
};

// What one ask comes to: `granted` of the units, and the usage after it. Units let through while the service was away are counted
// whatever the limit says; refused units are not counted.
struct decision
{
    std::int64_t granted = 0;
    std::int64_t used = 0;
    std::int64_t remaining = 0; // never negative
};

decision decide(const usage& before, std::int64_t units, std::int64_t let_through);

} // namespace tempinbox::rate_limit
