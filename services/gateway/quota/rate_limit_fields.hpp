#pragma once

#include "common/core/time.hpp"

#include <cstdint>

namespace tempinbox::gateway {

// The values of X-RateLimit-*.
struct rate_limit_headers
{
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::int64_t reset = 0; // Unix seconds

    friend bool operator==(const rate_limit_headers&, const rate_limit_headers&) = default;
};

inline std::int64_t to_unix_seconds(time_point time)
{
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

// The next 00:00 UTC, Unix seconds.
inline std::int64_t next_midnight(time_point now)
{
    const auto today = std::chrono::floor<std::chrono::days>(now.time_since_epoch());
    return std::chrono::seconds(today + std::chrono::days{1}).count();
}

} // namespace tempinbox::gateway
