#pragma once

#include "common/core/errors.hpp"
#include "common/kafka/settings.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::kafka {

struct topic_spec
{
    std::string name; // without the installation's prefix, which the calls put on
    int partitions = 1;
    int replication = 1;
    std::map<std::string, std::string> config;
};

// A difference between a topic and its specification. Settings that the specification does not name
// are not compared.
struct topic_difference
{
    enum class kind { missing, config, fewer_partitions, more_partitions, replication };

    kind what = kind::config;
    std::string topic;   // its name in Kafka
    std::string setting; // "partitions", "replication", or a name such as retention.ms; empty for a
                         // missing topic
    std::string found;
    std::string wanted;
};

// Whether topics may get more partitions. Keys then move to other partitions, so that the events of
// one inbox can arrive out of order, while earlier records stay where they are.
enum class repartitioning { refused, allowed };

// All calls block; for tools and tests. Unavailable if the brokers do not respond in time.

// In the order of `topics`.
result<std::vector<topic_difference>> compare_topics(const settings& cluster,
                                                     const std::vector<topic_spec>& topics,
                                                     std::chrono::milliseconds timeout);

// Creates missing topics, alters the settings of those that differ, adds partitions if allowed, and
// waits until all have leaders. If a topic has too few partitions and adding is not allowed:
// conflict, and nothing is changed. More partitions than wanted and another replication factor stay
// as they are.
result<void> apply_topics(const settings& cluster, const std::vector<topic_spec>& topics,
                          std::chrono::milliseconds timeout,
                          repartitioning more_partitions = repartitioning::refused);

// How long a topic surely keeps a record.
struct topic_retention
{
    std::optional<std::chrono::milliseconds> time; // retention.ms; absent without a bound of time
    bool is_bounded_by_size = false;               // by retention.bytes: the time may be shorter
};

// not_found for a missing topic.
result<topic_retention> find_retention(const settings& cluster, const std::string& topic,
                                       std::chrono::milliseconds timeout);

} // namespace tempinbox::kafka
