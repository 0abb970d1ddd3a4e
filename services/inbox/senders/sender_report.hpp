#pragma once

#include "common/core/time.hpp"
#include "mailbox/attempt_repository.hpp"

#include "tempinbox/inbox/v1/sender_report.pb.h"

#include <vector>

namespace tempinbox::inbox {

// What senders did, from their attempts, given the oldest first. Pure: equal attempts at an equal
// time give an equal report.
v1::SenderReport make_sender_report(const std::vector<mailbox::stored_attempt>& attempts,
                                    time_point now);

} // namespace tempinbox::inbox
