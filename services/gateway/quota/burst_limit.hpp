#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <cstdint>
#include <unordered_map>

namespace tempinbox::gateway {

// The shield before the quota: a token bucket for each API key on this replica, as deep as the
// plan's burst/s and refilled at that rate. Bounded: past 100,000 keys within a second the rest
// pass unjudged.
class burst_limit
{
public:
    explicit burst_limit(std::size_t most_keys = 100'000) : most_keys_(most_keys) {}

    // Takes a token. 0 a second: no limit.
    bool take(key_id key, int per_second, time_point now);
    std::size_t size() const { return buckets_.size(); }

private:
    struct bucket
    {
        double tokens = 0;
        time_point filled_at;
    };

    bool make_room(time_point now);

    std::size_t most_keys_;
    time_point swept_at_{};
    std::unordered_map<key_id, bucket> buckets_;
};

} // namespace tempinbox::gateway
