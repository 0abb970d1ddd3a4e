#pragma once

#include "common/core/errors.hpp"
#include "common/kafka/message.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::ctl {

// Where a letter lies in its topic: `3/120` is partition 3, offset 120.
struct letter_place
{
    std::int32_t partition = 0;
    std::int64_t offset = 0;

    friend auto operator<=>(const letter_place&, const letter_place&) = default;
    std::string text() const { return std::to_string(partition) + "/" + std::to_string(offset); }
};
result<letter_place> parse_letter_place(std::string_view text);
letter_place place_of(const kafka::record& letter);

// Which letters of a topic an operator means.
struct letter_choice
{
    bool is_all = false;
    std::vector<letter_place> places;
    std::vector<std::string> events; // values of ce_id

    bool is_empty() const { return !is_all && places.empty() && events.empty(); }
};

// The chosen ones in the order they lie. Not_found, naming it, where a place or an event has no
// letter: nothing is half done.
result<std::vector<kafka::record>> choose_letters(std::vector<kafka::record> letters,
                                                  const letter_choice& wanted);

} // namespace tempinbox::ctl
