#include "common/outbox/publish_linger.hpp"

#include <algorithm>

namespace tempinbox::outbox {
namespace {

using seconds = std::chrono::duration<double>;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr milliseconds delay_per_event_per_second{0.1};

} // namespace

bool publish_linger::note_commit(std::size_t events, time_point now)
{
    allowance_ = std::min(immediate_burst,
                          allowance_ + seconds(now - allowance_at_).count() * immediate_per_second);
    allowance_at_ = now;
    const bool is_allowed = allowance_ >= 1;
    // Batched events use up the allowance too, or some would go at once however many there are.
    const auto cost = std::min(immediate_burst, static_cast<double>(events));
    allowance_ = std::max(-cost, allowance_ - cost);
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
