#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/settings.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// All that lies in the topics now, from their beginnings to their present ends. Unavailable when
// the brokers do not answer in time, or a topic is missing.
awaitable<result<std::vector<kafka::record>>> read_topics_whole(runtime::host& host,
                                                                kafka::settings cluster,
                                                                std::vector<std::string> topics,
                                                                std::chrono::milliseconds timeout);

// Writes the messages; returns when the broker has all of them, unavailable when it does not take
// one.
awaitable<result<void>> write_messages(runtime::host& host, kafka::settings cluster,
                                       std::vector<kafka::message> messages,
                                       std::chrono::milliseconds timeout);

} // namespace tempinbox::ctl
