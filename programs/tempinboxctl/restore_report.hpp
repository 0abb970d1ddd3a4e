#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/kafka/group_offsets.hpp"
#include "tempinboxctl/command_result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What `restore check` and `restore settle` found and did. Pure: no connections, no clock.
namespace tempinbox::ctl {

enum class step_status {
    ok,     // nothing to do
    todo,   // `restore settle` does it
    done,   // by this run or one before
    manual, // the operator's to do or to know
};

struct restore_step
{
    step_status is = step_status::ok;
    std::string step;
    std::int64_t count = 0;
    std::string message;
};

// An inbox that lives again though its end was published.
struct published_end
{
    inbox_id inbox;
    std::string address;
    std::string reason; // ttl, deleted
    time_point expired_at;
    event_id event;
};

struct restore_report
{
    std::string restore_id;
    std::optional<time_point> moment; // absent: nobody knows it
    std::vector<restore_step> steps;
    std::string group;
    std::vector<kafka::group_position> offsets; // those to set back
    std::vector<published_end> ends;            // up to max_listed_ends of them
    bool is_unsettled = false;                  // of `check`: the exit code is 1
};

constexpr std::size_t max_listed_ends = 1'000;

// Positions that move back: a group is never moved forward, past what it has not read.
std::vector<kafka::group_position> positions_to_reset(std::vector<kafka::group_position> found);

// Whether something says that the database was restored and nothing that it was settled.
struct restore_signs
{
    std::int64_t timeline = 1;
    std::int64_t version = 0;           // of accounts.changes
    std::int64_t published_version = 0; // the highest in Kafka's account.state
    bool is_settled = false;
};
bool needs_settling(const restore_signs& signs);

// A line for each step, then one for each offset and each end.
command_result to_result(const restore_report& report);

} // namespace tempinbox::ctl
