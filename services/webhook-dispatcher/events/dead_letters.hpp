#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/runtime/host.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Puts away what cannot be handled, so that it never blocks its partition.
class dead_letters
{
public:
    dead_letters(runtime::host& host, kafka::producer& producer);

    // Returns when the broker has all of them; throws dependency_error when it does not take one.
    awaitable<void> send(std::vector<kafka::message> messages);

private:
    struct batch;
    bool publish(kafka::message message, const std::shared_ptr<batch>& sent);

    runtime::host& host_;
    kafka::producer& producer_;
    prometheus::Counter& count_;
};

} // namespace tempinbox::webhooks
