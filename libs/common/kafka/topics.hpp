#pragma once

#include "common/core/errors.hpp"
#include "common/kafka/settings.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace tempinbox::kafka {

struct topic_spec
{
    std::string name;
    int partitions = 1;
    int replication = 1;
    std::map<std::string, std::string> config;
};

// What a topic is and what it should be. A setting that the file does not name is nobody's
// business.
struct topic_difference
{
    enum class kind { missing, config, fewer_partitions, more_partitions, replication };

    kind what = kind::config;
    std::string topic;
    std::string setting; // "partitions", "replication", or a name such as retention.ms; empty of a
                         // missing topic
    std::string found;
    std::string wanted;
};

// Whether topics may be given more partitions: their keys move to others, so that the events of one
// inbox can come out of order and what was written before stays where it is.
enum class repartitioning { refused, allowed };

// All blocking; for tools and tests. Unavailable when the brokers do not answer in time.

// In the order of `wanted`.
result<std::vector<topic_difference>> compare_topics(const settings& cluster,
                                                     const std::vector<topic_spec>& wanted,
                                                     std::chrono::milliseconds timeout);

// Creates the topics that are missing, alters settings of those that differ, adds partitions where
// that is allowed, and waits until all have leaders. Fewer partitions where it is not: conflict,
// and nothing was changed. More partitions than wanted and another replication stay as they are.
result<void> apply_topics(const settings& cluster, const std::vector<topic_spec>& wanted,
                          std::chrono::milliseconds timeout,
                          repartitioning more_partitions = repartitioning::refused);

} // namespace tempinbox::kafka
