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
// Kafka is given events at most a third of the time, as long as they stay fresh enough.
constexpr double delay_per_acknowledgement = 3;
constexpr milliseconds max_delay_by_acknowledgements{50};

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

void publish_linger::note_acknowledged(std::chrono::steady_clock::duration took)
{
    // An outage is forgotten within a dozen publishes.
    const auto bounded = std::min<std::chrono::steady_clock::duration>(took, max_delay);
    acknowledged_in_ = (acknowledged_in_ * 3 + bounded) / 4;
}

std::chrono::milliseconds publish_linger::delay() const
{
    const auto wanted = std::max(
        events_per_second_ * delay_per_event_per_second,
        std::min(acknowledged_in_ * delay_per_acknowledgement, max_delay_by_acknowledgements));
    const auto unclamped =
        std::chrono::round<std::chrono::milliseconds>(std::min<milliseconds>(wanted, max_delay));
    return std::max(unclamped, min_delay);
}

} // namespace tempinbox::outbox
