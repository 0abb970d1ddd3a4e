#include "gateway/quota/burst_limiter.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

// Every bucket refills in this time.
constexpr std::chrono::seconds time_to_fill{1};

} // namespace

bool burst_limiter::take(key_id key, int per_second, time_point now)
{
    if (per_second <= 0)
        return true;
    auto entry = buckets_.find(key);
    if (entry == buckets_.end()) {
        if (buckets_.size() >= max_keys_ && !evict_full_buckets(now))
            return true;
        entry = buckets_.emplace(key, bucket{static_cast<double>(per_second), now}).first;
    }
    auto& state = entry->second;
    // A clock that was set back takes no tokens away.
    const auto passed = std::max(std::chrono::duration<double>(now - state.filled_at).count(), 0.0);
    state.tokens = std::min(state.tokens + passed * per_second, static_cast<double>(per_second));
    state.filled_at = now;
    if (state.tokens < 1)
        return false;
    state.tokens -= 1;
    return true;
}

// Evicts full buckets, at most once in the time one takes to refill.
bool burst_limiter::evict_full_buckets(time_point now)
{
    if (now >= swept_at_ && now - swept_at_ < time_to_fill)
        return false;
    swept_at_ = now;
    std::erase_if(buckets_, [now](const auto& entry) {
        return now < entry.second.filled_at || now - entry.second.filled_at >= time_to_fill;
    });
    return buckets_.size() < max_keys_;
}

} // namespace tempinbox::gateway
