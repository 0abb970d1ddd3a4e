#pragma once

#include "common/core/errors.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/partition_plan.hpp"
#include "common/kafka/settings.hpp"
#include "common/runtime/host.hpp"

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::kafka {

// Owners of librdkafka's objects.
struct release
{
    void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
    void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
    void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
    void operator()(rd_kafka_topic_partition_list_t* list) const
    {
        rd_kafka_topic_partition_list_destroy(list);
    }
    void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
    void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
    void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
    void operator()(const rd_kafka_metadata_t* metadata) const
    {
        rd_kafka_metadata_destroy(metadata);
    }
};
template <class T>
using handle = std::unique_ptr<T, release>;

using client_handle = handle<rd_kafka_t>;
using message_handle = handle<rd_kafka_message_t>;
using partition_list = handle<rd_kafka_topic_partition_list_t>;
using queue_handle = handle<rd_kafka_queue_t>;
using event_handle = handle<rd_kafka_event_t>;

// A client's configuration, with the settings that all clients share (brokers, no automatic topic
// creation, quick reconnects, log lines into ours). `program` names the client (names.hpp). A
// refused name or value throws.
class configuration
{
public:
    configuration(const settings& cluster, std::string_view program);
    void set(const std::string& name, const std::string& value);
    void suggest(const std::string& name, const std::string& value);
    // Logs nothing: the caller reports errors by `unreachable`.
    void be_quiet();
    rd_kafka_conf_t* get() { return conf_.get(); }
    // Consumes the configuration.
    client_handle make(rd_kafka_type_t kind);

private:
    handle<rd_kafka_conf_t> conf_;
    std::map<std::string, std::string> chosen_by_operator_;
};

// The failure of a quiet client that got no response: `unauthenticated` and why if its login failed
// since the last call, else `unavailable`.
failure unreachable(rd_kafka_t* client, rd_kafka_resp_err_t error);

// Watches whether the brokers are reachable and reports it to health as "kafka"; logs that a login
// failed, at most once a minute. The client's error callback calls `on_error`, its poll thread
// `check`.
class broker_watch
{
public:
    explicit broker_watch(runtime::host& host);

    void on_error(rd_kafka_resp_err_t error, const char* reason);
    // A message timed out: the next `check` queries the brokers.
    void doubt() { is_in_doubt_ = true; }
    // While unreachable or in doubt, at most once a second: requests metadata; blocks for at most a
    // second.
    void check(rd_kafka_t* client);
    bool is_reachable() const { return is_reachable_; }

private:
    void on_failed_login(std::string_view reason);

    runtime::host& host_;
    std::atomic<bool> is_reachable_{false};
    std::atomic<bool> is_in_doubt_{false};
    std::chrono::steady_clock::time_point next_check_;
    // Why, until the brokers respond; used on the poll thread, which runs the callback, too.
    std::string failed_login_;
    std::chrono::steady_clock::time_point last_failed_login_;
    std::chrono::steady_clock::time_point next_login_log_;
};

// Topics of records and partitions are named without the prefix.
record read_record(const settings& cluster, const rd_kafka_message_t& message);
partition_name read_name(const settings& cluster, const rd_kafka_topic_partition_t& partition);
// Adds a partition to a list and returns it.
rd_kafka_topic_partition_t& add_to(const partition_list& list, const settings& cluster,
                                   const partition_name& name);

} // namespace tempinbox::kafka
