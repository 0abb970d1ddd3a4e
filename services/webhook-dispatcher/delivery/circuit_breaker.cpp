#include "webhook-dispatcher/delivery/circuit_breaker.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr double max_consecutive_failures = 5;
constexpr int min_requests_in_a_minute = 20;
constexpr std::chrono::seconds min_open_time{30};
constexpr std::chrono::seconds max_open_time{15 * 60};
constexpr std::chrono::hours idle_ttl{1};

std::int64_t bucket_index(circuit_breaker::time now)
{
    return std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count() / 10;
}

} // namespace

circuit_breaker::permit circuit_breaker::acquire(time now)
{
    last_use_ = now;
    if (!is_tripped_)
        return permit::normal;
    if (now < open_until_ || is_probing_)
        return permit::refused;
    is_probing_ = true;
    return permit::probe;
}

void circuit_breaker::succeeded(permit given, time now)
{
    count(0, now);
    if (given == permit::probe) {
        *this = circuit_breaker{};
        return;
    }
    // While open, only the probe decides: this request was sent before the breaker opened.
    if (!is_tripped_)
        consecutive_failures_ = 0;
}

void circuit_breaker::failed(permit given, double weight, time now)
{
    count(weight, now);
    if (given == permit::probe) {
        is_probing_ = false;
        if (weight > 0)
            open(now);
        return;
    }
    if (is_tripped_)
        return;
    consecutive_failures_ += weight;
    if (consecutive_failures_ >= max_consecutive_failures || fails_too_often(now))
        open(now);
}

void circuit_breaker::abandoned(permit given)
{
    if (given == permit::probe)
        is_probing_ = false;
}

void circuit_breaker::probe_now(time now)
{
    if (is_open(now))
        open_until_ = now;
}

bool circuit_breaker::is_clean(time now) const
{
    return (!is_tripped_ && consecutive_failures_ == 0) || now - last_use_ >= idle_ttl;
}

void circuit_breaker::count(double failed, time now)
{
    last_use_ = now;
    const auto index = bucket_index(now);
    auto& slot = minute_[static_cast<std::size_t>(index) % bucket_count];
    if (slot.index != index)
        slot = bucket{index, 0, 0};
    ++slot.total;
    slot.failed += failed;
}

bool circuit_breaker::fails_too_often(time now) const
{
    const auto oldest = bucket_index(now) - static_cast<std::int64_t>(bucket_count) + 1;
    int total = 0;
    double failed = 0;
    for (const auto& slot : minute_) {
        if (slot.index < oldest)
            continue;
        total += slot.total;
        failed += slot.failed;
    }
    return total >= min_requests_in_a_minute && failed * 2 >= total;
}

void circuit_breaker::open(time now)
{
    open_for_ = is_tripped_ ? std::min(open_for_ * 2, max_open_time) : min_open_time;
    is_tripped_ = true;
    open_until_ = now + open_for_;
    minute_ = {};
}

} // namespace tempinbox::webhooks
