#include "mail-ingest/smtp/rejection_reasons.hpp"

#include "mail-ingest/smtp/replies.hpp"

namespace tempinbox::smtp {

using mailbox::rejection_reason;

std::optional<rejection_reason> reason_of(recipient_status status, std::string_view reply)
{
    switch (status) {
    case recipient_status::live:
        return reply == replies::too_large_for_recipient
                   ? std::optional(rejection_reason::too_large)
                   : std::nullopt;
    case recipient_status::quarantined:
        return rejection_reason::inbox_ended;
    case recipient_status::full:
    case recipient_status::full_for_now:
        return rejection_reason::inbox_full;
    case recipient_status::over_rate:
        return rejection_reason::over_rate;
    case recipient_status::unknown:
    case recipient_status::foreign:
    case recipient_status::unavailable:
        break;
    }
    return std::nullopt;
}

std::optional<rejection_reason> reason_of(std::string_view result)
{
    if (result == "fault")
        return rejection_reason::fault;
    if (result == "too_large")
        return rejection_reason::too_large;
    if (result == "full")
        return rejection_reason::inbox_full;
    if (result == "gone")
        return rejection_reason::inbox_ended;
    return std::nullopt;
}

} // namespace tempinbox::smtp
