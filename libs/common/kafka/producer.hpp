#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/settings.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <memory>

namespace tempinbox::kafka {

// Idempotent, acks=all, zstd, linger 0–2 ms. `send` is thread-safe; outcomes are called back on the
// loop, in batches. Reports "kafka" to health: met once metadata has been read, lost when all
// brokers are down, met again when one is back. After an error that ends idempotence the client is
// recreated; messages in flight are then reported as not acknowledged. Outcomes that arrive after
// the destructor are dropped.
class producer
{
public:
    using outcome_handler = std::function<void(bool acknowledged)>;

    producer(runtime::host& host, const settings& chosen);
    ~producer();
    producer(const producer&) = delete;

    // False when the queue is full (16 MiB or 50,000 messages) or the message is too large: nothing
    // was sent and the handler is not called. A message not acknowledged within 20 s is reported as
    // not acknowledged.
    bool send(message outgoing, outcome_handler on_outcome);

    // Waits at most `timeout` until the queue is empty.
    awaitable<void> flush(std::chrono::milliseconds timeout);

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::kafka
