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

// The next 00:00 UTC, Unix seconds.
inline std::int64_t next_midnight(time_point now)
{
    return to_unix_seconds(day_of(now) + std::chrono::days{1});
}

} // namespace tempinbox::gateway
