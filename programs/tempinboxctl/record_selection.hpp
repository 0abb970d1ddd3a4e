#pragma once

#include "common/core/errors.hpp"
#include "common/kafka/message.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::ctl {

// The position of a dead letter in its topic: `3/120` is partition 3, offset 120.
struct record_position
{
    std::int32_t partition = 0;
    std::int64_t offset = 0;

    friend auto operator<=>(const record_position&, const record_position&) = default;
    std::string text() const { return std::to_string(partition) + "/" + std::to_string(offset); }
};
result<record_position> parse_record_position(std::string_view text);
record_position position_of(const kafka::record& dead_letter);

// Which dead letters of a topic an operator selects.
struct record_selection
{
    bool is_all = false;
    std::vector<record_position> positions;
    std::vector<std::string> events; // values of ce_id

    bool is_empty() const { return !is_all && positions.empty() && events.empty(); }
};

// The selected ones, sorted by position. Not_found, naming it, if a position or an event has no
// dead letter: all or nothing.
result<std::vector<kafka::record>> select_records(std::vector<kafka::record> dead_letters,
                                                  const record_selection& selection);

} // namespace tempinbox::ctl
