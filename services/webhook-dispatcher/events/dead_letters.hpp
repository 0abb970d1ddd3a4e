#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/runtime/host.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Sends records that cannot be handled to the dead letter topic, so that they never block their
// partition.
class dead_letters
{
public:
    dead_letters(runtime::host& host, kafka::producer& producer);

    // Returns when the broker has all of them; throws dependency_error if it does not take one.
    awaitable<void> send(std::vector<kafka::message> messages);

private:
    struct batch;
    bool publish(kafka::message message, const std::shared_ptr<batch>& sent);

    runtime::host& host_;
    kafka::producer& producer_;
    prometheus::Counter& count_;
};

} // namespace tempinbox::webhooks
