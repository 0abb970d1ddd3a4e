#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <cstdint>
#include <unordered_map>

namespace tempinbox::gateway {

// Limits bursts before the quota is charged: a token bucket for each API key on this replica, as
// deep as the plan's burst/s and refilled at that rate. Bounded: past 100,000 keys within a second
// further keys pass unchecked.
class burst_limiter
{
public:
    explicit burst_limiter(std::size_t max_keys = 100'000) : max_keys_(max_keys) {}

    // Takes a token; false if there is none. `per_second` 0: no limit.
    bool take(key_id key, int per_second, time_point now);
    std::size_t size() const { return buckets_.size(); }

private:
    struct bucket
    {
        double tokens = 0;
        time_point filled_at;
    };

    bool evict_full_buckets(time_point now);

    std::size_t max_keys_;
    time_point swept_at_{};
    std::unordered_map<key_id, bucket> buckets_;
};

} // namespace tempinbox::gateway
