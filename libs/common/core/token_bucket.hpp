#pragma once

#include "common/core/lru_cache.hpp"

#include <algorithm>
#include <chrono>

namespace tempinbox {

// How fast a bucket fills, and how many tokens it holds. Zero tokens: no limit.
struct token_rate
{
    double tokens = 0;
    std::chrono::seconds period{1}; // in which `tokens` come
    double burst = 1;

    static token_rate per_second(double tokens)
    {
        return {tokens, std::chrono::seconds(1), tokens};
    }
    static token_rate per_minute(double tokens, double burst)
    {
        return {tokens, std::chrono::minutes(1), std::max(burst, 1.0)};
    }
    bool is_unlimited() const { return tokens <= 0; }
};

// The tokens of one bucket. A clock that is set back takes none away.
template <class TimePoint>
class token_count
{
public:
    token_count() = default;
    // Full.
    token_count(const token_rate& rate, TimePoint now) : left_(rate.burst), filled_at_(now) {}

    // How many there are now; below zero if overdrawn.
    double refill(const token_rate& rate, TimePoint now)
    {
        const auto passed = std::max(std::chrono::duration<double>(now - filled_at_).count(), 0.0);
        const auto period = std::chrono::duration<double>(rate.period).count();
        left_ = std::min(rate.burst, left_ + passed * rate.tokens / period);
        filled_at_ = now;
        return left_;
    }
    void take(double count = 1) { left_ -= count; }
    void give_back_one(const token_rate& rate) { left_ = std::min(rate.burst, left_ + 1); }
    // Takes more than there may be, so that the next wait longer; the debt never exceeds `count`.
    void overdraw(double count) { left_ = std::max(-count, left_ - count); }

private:
    double left_ = 0;
    TimePoint filled_at_{};
};

// A bucket of tokens for each key: all of one rate, or each call with the rate of its key. Bounded:
// evicts the least recently used key, which starts full when it comes again.
template <class Key, class TimePoint = std::chrono::steady_clock::time_point>
class token_bucket
{
public:
    using time_point = TimePoint;

    static constexpr std::size_t max_keys = 100'000;

    // Each call says its rate.
    explicit token_bucket(std::size_t bound = max_keys) : buckets_(bound) {}
    explicit token_bucket(const token_rate& rate) : rate_(rate), buckets_(max_keys) {}

    bool has(const Key& key, time_point now)
    {
        return rate_.is_unlimited() || find_refilled(key, rate_, now).second >= 1;
    }
    // False if none is left.
    bool take(const Key& key, time_point now) { return take(key, rate_, now); }
    bool take(const Key& key, const token_rate& rate, time_point now)
    {
        if (rate.is_unlimited())
            return true;
        const auto [bucket, left] = find_refilled(key, rate, now);
        if (left < 1)
            return false;
        bucket->take();
        return true;
    }
    // Takes more than there may be: as many calls are refused later.
    void take_beyond(const Key& key, const token_rate& rate, double count, time_point now)
    {
        if (!rate.is_unlimited())
            find_refilled(key, rate, now).first->take(count);
    }
    // Until the next `take` succeeds, if nobody else takes.
    std::chrono::duration<double> wait(const Key& key, const token_rate& rate, time_point now)
    {
        if (rate.is_unlimited())
            return std::chrono::duration<double>::zero();
        const auto missing = std::max(0.0, 1 - find_refilled(key, rate, now).second);
        return missing * std::chrono::duration<double>(rate.period) / rate.tokens;
    }
    // Returns a token whose use did not happen.
    void give_back(const Key& key)
    {
        if (auto* known = buckets_.find(key))
            known->give_back_one(rate_);
    }

    std::size_t size() const { return buckets_.size(); }

private:
    std::pair<token_count<TimePoint>*, double> find_refilled(const Key& key, const token_rate& rate,
                                                             time_point now)
    {
        auto* found = buckets_.find(key);
        if (!found)
            found = &buckets_.put(key, token_count<TimePoint>(rate, now));
        return {found, found->refill(rate, now)};
    }

    token_rate rate_;
    lru_cache<Key, token_count<TimePoint>> buckets_;
};

} // namespace tempinbox
