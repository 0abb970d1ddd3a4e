#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// Why mail for an inbox was not accepted.
enum class rejection_reason {
    too_large,
    inbox_full,
    over_rate,
    inbox_ended,
    bad_login,
    fault // its owner asked for it
};

// The name that the schema and the API have for it.
constexpr std::string_view to_text(rejection_reason reason)
{
    constexpr std::string_view names[] = {"too_large",   "inbox_full", "over_rate",
                                          "inbox_ended", "bad_login",  "fault"};
    return names[static_cast<std::size_t>(reason)];
}

// At most so many for an inbox: a sender's for one reason are one.
inline constexpr int max_rejections_per_inbox = 100;

// Attempts to mail an inbox that were refused: those of one sender for one reason, summed.
struct rejection
{
    std::string reason;
    std::string mail_from; // empty: the null sender
    std::string reply;     // the last one, as sent
    std::int64_t attempts = 1;
    time_point first_at;
    time_point last_at;
};

struct new_rejection : rejection
{
    account_id account;
    inbox_id inbox;
};

} // namespace tempinbox::mailbox
