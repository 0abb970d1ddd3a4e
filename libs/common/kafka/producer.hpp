#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/settings.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tempinbox::kafka {

// Idempotent, acks=all, zstd, linger 0–2 ms. `send` is thread-safe; outcomes are called back on the
// loop, in batches. Reports "kafka" to health: met once metadata has been read, lost when all
// brokers are down, met again when one is back. Outcomes that arrive after the destructor are
// dropped.
//
// Acknowledged means that the broker named the message's offset. The messages of one key are
// written in the order of `send`; one that is reported as not acknowledged may be missing or may
// have been written: whoever needs it sends it again.
//
// Events of a topic that has a schema in `schema_ids_file` get the header of its id: it is binary,
// while headers in an outbox are text (schema_ids.hpp).
//
// The client is replaced when the files change that it is made of (client_reloader.hpp). Messages
// sent meanwhile are held. The old client finishes what it has within 5 s; what is left is reported
// as not acknowledged. Only then are the held messages passed to the new client, so the order of a
// key holds across the replacement, too. After an error that ends idempotence the same happens
// without the 5 s.
class producer
{
public:
    using outcome_handler = std::function<void(bool acknowledged)>;

    producer(runtime::host& host, const settings& chosen);
    ~producer();
    producer(const producer&) = delete;

    // False when the queue is full (16 MiB or 50,000 messages, and as much while the client is
    // replaced) or the message is too large: nothing was sent and the handler is not called. A
    // message not acknowledged within 20 s is reported as not acknowledged.
    bool send(message outgoing, outcome_handler on_outcome);

    // Waits at most `timeout` until the queue is empty.
    awaitable<void> flush(std::chrono::milliseconds timeout);

    // The names in Kafka of a topic and of this client.
    std::string topic_name(std::string_view topic) const;
    const std::string& client_name() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::kafka
