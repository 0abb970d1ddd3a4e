#pragma once

#include "common/kafka/consumer.hpp"
#include "common/testing/await.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::testing {

// All records of topics, past and future, as they arrive.
class collected
{
public:
    collected(const kafka::settings& cluster, std::vector<std::string> topics)
        : reader_(
              test_host(), cluster, std::move(topics),
              [this](const std::vector<kafka::record>& batch) {
                  records_.insert(records_.end(), batch.begin(), batch.end());
              },
              true)
    {
        reader_.start();
    }

    const std::vector<kafka::record>& records() const { return records_; }

    // Waits until that many are there.
    bool has(std::size_t count, std::chrono::milliseconds deadline = std::chrono::seconds(20))
    {
        return eventually([&] { return records_.size() >= count; }, deadline);
    }

    // Nothing more is on its way: the end of the topic was read.
    bool has_all()
    {
        return eventually([&] { return reader_.is_current(); });
    }

private:
    std::vector<kafka::record> records_;
    kafka::broadcast_reader reader_;
};

} // namespace tempinbox::testing
