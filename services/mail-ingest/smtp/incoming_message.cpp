#include "mail-ingest/smtp/incoming_message.hpp"

#include <algorithm>

namespace tempinbox::smtp {

void incoming_message::begin(std::uint64_t allowed_bytes, time_point now)
{
    phase_ = phase::whole;
    allowed_bytes_ = allowed_bytes;
    size_ = 0;
    start_ = now;
    window_start_ = now;
    window_bytes_ = 0;
}

message_step incoming_message::keep(std::string_view bytes, std::size_t received, time_point now)
{
    window_bytes_ += received;
    size_ += bytes.size();
    const bool was_too_large = is_too_large();
    if (size_ > 2 * allowed_bytes_)
        phase_ = phase::excessive;
    else if (size_ > allowed_bytes_)
        phase_ = phase::oversize;
    if (was_too_large)
        return {message_step::kind::resume, {}};
    if (is_too_large()) {
        oversize_since_ = now;
        return {message_step::kind::drop, {}};
    }
    if (is_lost())
        return {message_step::kind::resume, {}};
    return {message_step::kind::append, bytes};
}

void incoming_message::lose()
{
    if (phase_ == phase::whole)
        phase_ = phase::lost;
}

incoming_message::time_point incoming_message::oversize_deadline() const
{
    return is_too_large() ? oversize_since_ + limits_.oversize_timeout : time_point::max();
}

incoming_message::time_point incoming_message::window_deadline() const
{
    return limits_.rate_window.count() > 0 ? window_start_ + limits_.rate_window
                                           : time_point::max();
}

bool incoming_message::is_too_slow(time_point now)
{
    const auto seconds = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(now - window_start_).count());
    // Even without a minimum rate a byte must arrive in each window.
    const bool is_slow =
        window_bytes_ < std::max<std::uint64_t>(1, seconds * limits_.min_bytes_per_second);
    window_start_ = now;
    window_bytes_ = 0;
    return is_slow;
}

} // namespace tempinbox::smtp
