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

// Creates the topics that are missing and waits until all have leaders. Blocking; for tools and tests.
result<void> apply_topics(const settings& cluster, const std::vector<topic_spec>& wanted, std::chrono::milliseconds patience);

} // namespace tempinbox::kafka
