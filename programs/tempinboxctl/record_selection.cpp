#include "tempinboxctl/record_selection.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <charconv>

namespace tempinbox::ctl {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

std::string_view event_of(const kafka::record& dead_letter)
{
    return dead_letter.header("ce_id").value_or("");
}

bool is_chosen(const kafka::record& dead_letter, const record_selection& selection)
{
    return selection.is_all ||
           std::find(selection.positions.begin(), selection.positions.end(),
                     position_of(dead_letter)) != selection.positions.end() ||
           std::find(selection.events.begin(), selection.events.end(), event_of(dead_letter)) !=
               selection.events.end();
}

} // namespace

result<record_position> parse_record_position(std::string_view text)
{
    const auto slash = text.find('/');
    record_position position;
    if (slash == std::string_view::npos ||
        !read_number(text.substr(0, slash), position.partition) ||
        !read_number(text.substr(slash + 1), position.offset))
        return failure{errc::invalid_argument,
                       "--letter must be PARTITION/OFFSET such as 3/120, not " + quote(text)};
    return position;
}

record_position position_of(const kafka::record& dead_letter)
{
    return {dead_letter.partition, dead_letter.offset};
}

result<std::vector<kafka::record>> select_records(std::vector<kafka::record> dead_letters,
                                                  const record_selection& selection)
{
    const auto is_there = [&](const auto& matches) {
        return std::any_of(dead_letters.begin(), dead_letters.end(), matches);
    };
    for (const auto& position : selection.positions)
        if (!is_there([&](const kafka::record& dead_letter) {
                return position_of(dead_letter) == position;
            }))
            return failure{errc::not_found, "There is no dead letter at " + position.text()};
    for (const auto& event : selection.events)
        if (!is_there(
                [&](const kafka::record& dead_letter) { return event_of(dead_letter) == event; }))
            return failure{errc::not_found, "There is no dead letter of the event " + quote(event)};
    std::erase_if(dead_letters, [&](const kafka::record& dead_letter) {
        return !is_chosen(dead_letter, selection);
    });
    std::sort(dead_letters.begin(), dead_letters.end(),
              [](const kafka::record& a, const kafka::record& b) {
                  return position_of(a) < position_of(b);
              });
    return dead_letters;
}

} // namespace tempinbox::ctl
