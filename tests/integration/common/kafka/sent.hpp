#pragma once

#include "common/kafka/producer.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::testing {

inline kafka::settings test_cluster()
{
    kafka::settings cluster;
    cluster.brokers = test_brokers();
    return cluster;
}

// Sends key/value pairs and waits until the broker has them all.
inline void send_all(const std::string& topic,
                     const std::vector<std::pair<std::string, std::string>>& pairs,
                     const kafka::settings& cluster = test_cluster())
{
    kafka::producer producer(test_host(), cluster);
    std::size_t acknowledged = 0;
    for (const auto& [key, value] : pairs) {
        kafka::message message;
        message.topic = topic;
        message.key = key;
        message.value = value;
        if (!producer.send(std::move(message), [&acknowledged](bool is_acknowledged) {
                acknowledged += is_acknowledged ? 1 : 0;
            }))
            throw std::runtime_error("the producer's queue is full");
    }
    if (!eventually([&] { return acknowledged == pairs.size(); }))
        throw std::runtime_error("the broker did not acknowledge in time");
}

} // namespace tempinbox::testing
