#include "common/outbox/publish_linger.hpp"

#include <algorithm>

namespace tempinbox::outbox {
namespace {

using seconds = std::chrono::duration<double>;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr token_rate immediate{publish_linger::immediate_per_second, std::chrono::seconds(1),
                               publish_linger::immediate_burst};
// 33 ms at 2,000 events a second; the longest delay from 6,000 on.
constexpr milliseconds delay_per_event_per_second{1.0 / 60};

} // namespace

publish_linger::publish_linger(time_point now) : allowance_(immediate, now), published_at_(now) {}

bool publish_linger::note_commit(std::size_t events, time_point now)
{
    const bool is_allowed = allowance_.refill(immediate, now) >= 1;
    // Batched events use up the allowance too, or some would go at once however many there are.
    allowance_.overdraw(std::min(immediate_burst, static_cast<double>(events)));
    return is_allowed;
}

void publish_linger::note_publish(std::size_t events, time_point now)
{
    const auto passed = std::max(seconds(now - published_at_).count(),
                                 seconds(std::chrono::milliseconds(1)).count());
    published_at_ = now;
    events_per_second_ = (events_per_second_ + static_cast<double>(events) / passed) / 2;
}

std::chrono::milliseconds publish_linger::delay() const
{
    const auto unclamped = std::chrono::round<std::chrono::milliseconds>(
        events_per_second_ * delay_per_event_per_second);
    return std::clamp(unclamped, min_delay, max_delay);
}

} // namespace tempinbox::outbox
