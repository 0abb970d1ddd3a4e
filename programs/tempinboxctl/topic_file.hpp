#pragma once

#include "common/kafka/topics.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::ctl {

// What the options of `topics apply` override in a file's topics.
struct topic_overrides
{
    std::optional<std::int64_t> partitions;
    std::optional<std::int64_t> replication;
};

// `{"topics":[{"name","partitions","fixedPartitions","replication","config":{…}}]}`. Replication
// defaults to 1; from 3 on, two replicas must take each write (min.insync.replicas) unless the file
// says otherwise. With fixedPartitions the number of the file stands, whatever is given for all.
result<std::vector<kafka::topic_spec>> read_topics(std::string_view json,
                                                   const topic_overrides& overrides);

// The same of the file at `path`; of the release's own, deploy/kafka/topics.json, without one.
result<std::vector<kafka::topic_spec>> read_topic_file(const std::optional<std::string>& path,
                                                       const topic_overrides& overrides);

// `missing`, or `retention.ms: 86400000, not 259200000`, or with another word between.
std::string text_of(const kafka::topic_difference& one, const std::string& between = ", not ");

} // namespace tempinbox::ctl
