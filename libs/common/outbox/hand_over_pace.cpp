#include "common/outbox/hand_over_pace.hpp"

#include <algorithm>

namespace tempinbox::outbox {
namespace {

using seconds = std::chrono::duration<double>;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr milliseconds step_an_event_a_second{0.1};

} // namespace

bool hand_over_pace::note_commit(std::size_t events, time_point now)
{
    allowance_ = std::min(at_once_in_a_burst,
                          allowance_ + seconds(now - allowance_at_).count() * at_once_a_second);
    allowance_at_ = now;
    const bool is_allowed = allowance_ >= 1;
    // Also those that gather take of it, or some would go at once however many there are.
    const auto cost = std::min(at_once_in_a_burst, static_cast<double>(events));
    allowance_ = std::max(-cost, allowance_ - cost);
    return is_allowed;
}

void hand_over_pace::note_hand_over(std::size_t events, time_point now)
{
    const auto passed = std::max(seconds(now - handed_over_at_).count(),
                                 seconds(std::chrono::milliseconds(1)).count());
    handed_over_at_ = now;
    events_a_second_ = (events_a_second_ + static_cast<double>(events) / passed) / 2;
}

std::chrono::milliseconds hand_over_pace::step() const
{
    const auto wanted =
        std::chrono::round<std::chrono::milliseconds>(events_a_second_ * step_an_event_a_second);
    return std::clamp(wanted, shortest_step, longest_step);
}

} // namespace tempinbox::outbox
