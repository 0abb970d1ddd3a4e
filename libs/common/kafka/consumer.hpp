#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/settings.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::kafka {

struct consumer_settings
{
    kafka::settings cluster;
    std::string group;
    std::vector<std::string> topics;
    std::size_t batch_limit = 500;
    std::chrono::milliseconds retry_delay{1'000};
};

// A member of a consumer group (range assignment, manual commits, earliest without an offset). A
// batch is what has arrived; no timer fills it. `handle` runs on the loop, one batch at a time; its
// offsets are committed only after it returned. If it throws, it gets the same batch again after a
// delay. On revoke the running batch is finished and committed first. The client is replaced when
// the files change that it is made of (client_reloader.hpp): between two batches it commits, leaves
// and joins again. Exposes tempinbox_consumer_lag_records, tempinbox_consumer_oldest_age_seconds
// and tempinbox_consumer_expired_records_total.
class consumer
{
public:
    using batch_handler = std::function<awaitable<void>(const std::vector<record>&)>;

    consumer(runtime::host& host, consumer_settings settings, batch_handler handle);
    ~consumer();
    consumer(const consumer&) = delete;

    void start();
    // Stops polling, finishes the running batch, commits, leaves the group.
    awaitable<void> stop();
    // From now on `handle` gets no further batch; the one in progress is finished and the
    // membership is kept alive.
    void pause();
    void resume();

private:
    struct state;
    std::shared_ptr<state> state_;
};

// Reads every partition of the topics from their end, without a group: each process sees all
// events. New partitions are found each minute. A client that is replaced (client_reloader.hpp) is
// followed by one that goes on at the same offsets. `handle` is a plain function called on the loop
// with each batch.
class broadcast_reader
{
public:
    using batch_handler = std::function<void(const std::vector<record>&)>;

    // `from_beginning`: for compacted topics whose whole state is needed.
    broadcast_reader(runtime::host& host, settings cluster, std::vector<std::string> topics,
                     batch_handler handle, bool from_beginning = false);
    ~broadcast_reader();
    broadcast_reader(const broadcast_reader&) = delete;

    void start();
    void stop();
    // True while the brokers respond and the reader has reached the end once.
    bool is_current() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::kafka
