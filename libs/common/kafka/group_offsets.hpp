#pragma once

#include "common/core/errors.hpp"
#include "common/core/time.hpp"
#include "common/kafka/message.hpp"
#include "common/kafka/settings.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Reading topics and moving consumer groups by time, for tools and tests. All calls block.
// Unavailable if the brokers do not respond in time or a topic is missing. Groups and topics are
// named without the prefix (names.hpp), except in a group_position.
namespace tempinbox::kafka {

// Where a group stands in a partition, and where it would stand at a time.
struct group_position
{
    std::string topic; // its name in Kafka
    std::int32_t partition = 0;
    std::int64_t committed = 0; // the next record it reads
    std::int64_t at_time = 0;   // the first record from the time on, or the partition's end
};

// Partitions in which the group never committed are left out: it reads them from their beginning.
result<std::vector<group_position>> find_group_positions(const settings& cluster,
                                                         const std::string& group,
                                                         const std::vector<std::string>& topics,
                                                         time_point time,
                                                         std::chrono::milliseconds timeout);

// The members that the group has now; none for an unknown group.
result<int> count_group_members(const settings& cluster, const std::string& group,
                                std::chrono::milliseconds timeout);

// Commits `at_time` for each of them. conflict while the group has members.
result<void> set_group_positions(const settings& cluster, const std::string& group,
                                 const std::vector<group_position>& positions,
                                 std::chrono::milliseconds timeout);

// The records of a topic from a time on (without one from the beginning) up to its ends as they
// were at the first read, a batch at a time, so that memory stays bounded.
class bounded_reader
{
public:
    bounded_reader(settings cluster, std::string topic, std::optional<time_point> since,
                   std::chrono::milliseconds timeout);
    ~bounded_reader();
    bounded_reader(const bounded_reader&) = delete;

    // Up to `limit` records; none: the ends are reached. The time-out bounds the wait for a record.
    result<std::vector<record>> read(std::size_t limit);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace tempinbox::kafka
