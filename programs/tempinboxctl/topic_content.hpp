#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/producer.hpp"
#include "common/kafka/settings.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// All records of the topics, from their beginnings to their ends at the time of the call.
// Unavailable if the brokers do not answer in time or a topic is missing.
awaitable<result<std::vector<kafka::record>>> read_topics_whole(runtime::host& host,
                                                                kafka::settings cluster,
                                                                std::vector<std::string> topics,
                                                                std::chrono::milliseconds timeout);

// Writes the messages and returns when the broker has all of them. What it did not acknowledge is
// sent again until the time is over; the value is how many were. Unavailable if it does not take
// one.
awaitable<result<std::size_t>> write_messages(runtime::host& host, kafka::producer& producer,
                                              std::vector<kafka::message> messages,
                                              std::chrono::milliseconds timeout);
// The same by a producer of its own.
awaitable<result<std::size_t>> write_messages(runtime::host& host, kafka::settings cluster,
                                              std::vector<kafka::message> messages,
                                              std::chrono::milliseconds timeout);

} // namespace tempinbox::ctl
