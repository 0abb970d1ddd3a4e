#include "webhook-dispatcher/delivery/breaker.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr double failures_in_a_row = 5;
constexpr int least_in_a_minute = 20;
constexpr std::chrono::seconds first_open{30};
constexpr std::chrono::seconds longest_open{15 * 60};
constexpr std::chrono::hours remembered{1};

std::int64_t bucket_index(breaker::time now)
{
    return std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count() / 10;
}

} // namespace

breaker::permit breaker::ask(time now)
{
    last_use_ = now;
    if (!is_tripped_)
        return permit::normal;
    if (now < open_until_ || is_probing_)
        return permit::refused;
    is_probing_ = true;
    return permit::probe;
}

void breaker::succeeded(permit given, time now)
{
    count(0, now);
    if (given == permit::probe) {
        *this = breaker{};
        return;
    }
    // While open, the answer to a request sent before says nothing new: the probe decides.
    if (!is_tripped_)
        in_a_row_ = 0;
}

void breaker::failed(permit given, double weight, time now)
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
    in_a_row_ += weight;
    if (in_a_row_ >= failures_in_a_row || fails_too_often(now))
        open(now);
}

void breaker::abandoned(permit given)
{
    if (given == permit::probe)
        is_probing_ = false;
}

void breaker::look_again(time now)
{
    if (is_open(now))
        open_until_ = now;
}

bool breaker::is_clean(time now) const
{
    return (!is_tripped_ && in_a_row_ == 0) || now - last_use_ >= remembered;
}

void breaker::count(double failed, time now)
{
    last_use_ = now;
    const auto index = bucket_index(now);
    auto& slot = minute_[static_cast<std::size_t>(index) % bucket_count];
    if (slot.index != index)
        slot = bucket{index, 0, 0};
    ++slot.total;
    slot.failed += failed;
}

bool breaker::fails_too_often(time now) const
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
    return total >= least_in_a_minute && failed * 2 >= total;
}

void breaker::open(time now)
{
    open_for_ = is_tripped_ ? std::min(open_for_ * 2, longest_open) : first_open;
    is_tripped_ = true;
    open_until_ = now + open_for_;
    minute_ = {};
}

} // namespace tempinbox::webhooks
