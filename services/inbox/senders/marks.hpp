#pragma once

#include "common/core/time.hpp"
#include "inbox/senders/joining.hpp"

#include "tempinbox/inbox/v1/sender_report.pb.h"

#include <chrono>
#include <vector>

namespace tempinbox::inbox {

// For how long a message that was not tried again may still be: of a program that hands its mail
// over itself, and of a mail server (one that adds Received, sends chunks, or pipelines and says
// the size). The longest pause of Postfix is 4,000 s; RFC 5321 4.5.4.1 asks for 30 minutes.
inline constexpr std::chrono::seconds program_retry_time{10};
inline constexpr std::chrono::hours server_retry_time{2};
// A message that was refused for good, and does not come again in this time, was given up.
inline constexpr std::chrono::seconds give_up_time{10};
// A retry that comes sooner does not back off at all.
inline constexpr std::chrono::milliseconds min_backoff{500};
// One below it is noted.
inline constexpr std::chrono::seconds noted_backoff{60};
inline constexpr int max_numbers = 100; // of attempts that a mark names

// What the attempts show of their senders. Numbers are indexes of attempts, from 1 on.
std::vector<v1::SenderMark> make_marks(const std::vector<stored_attempt>& attempts,
                                       const std::vector<sent_message>& messages, time_point now);

} // namespace tempinbox::inbox
