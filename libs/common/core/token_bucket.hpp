#pragma once

#include "common/core/lru_cache.hpp"

#include <algorithm>
#include <chrono>

namespace tempinbox {

// A bucket of `burst` tokens for each key, refilled at `per_minute`; 0 a minute: unlimited. Holds
// at most 100,000 keys and evicts the least recently used.
template <class Key>
class token_bucket
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    token_bucket(double per_minute, double burst)
        : per_minute_(per_minute),
          burst_(std::max(burst, 1.0))
    {}

    bool has(const Key& key, time_point now)
    {
        return per_minute_ <= 0 || filled(key, now).left >= 1;
    }

    // False if none is left.
    bool take(const Key& key, time_point now)
    {
        if (!has(key, now))
            return false;
        if (per_minute_ > 0)
            buckets_.find(key)->left -= 1;
        return true;
    }

    // Returns a token whose use did not happen.
    void give_back(const Key& key)
    {
        if (auto* known = buckets_.find(key))
            known->left = std::min(burst_, known->left + 1);
    }

private:
    struct bucket
    {
        double left = 0;
        time_point filled_at;
    };

    bucket& filled(const Key& key, time_point now)
    {
        auto* known = buckets_.find(key);
        if (!known)
            known = &buckets_.put(key, bucket{burst_, now});
        const double minutes =
            std::chrono::duration<double, std::ratio<60>>(now - known->filled_at).count();
        known->left = std::min(burst_, known->left + minutes * per_minute_);
        known->filled_at = now;
        return *known;
    }

    double per_minute_;
    double burst_;
    lru_cache<Key, bucket> buckets_{100'000};
};

} // namespace tempinbox
