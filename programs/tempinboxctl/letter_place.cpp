#include "tempinboxctl/letter_place.hpp"

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

std::string_view event_of(const kafka::record& letter)
{
    return letter.header("ce_id").value_or("");
}

bool is_chosen(const kafka::record& letter, const letter_choice& wanted)
{
    return wanted.is_all ||
           std::find(wanted.places.begin(), wanted.places.end(), place_of(letter)) !=
               wanted.places.end() ||
           std::find(wanted.events.begin(), wanted.events.end(), event_of(letter)) !=
               wanted.events.end();
}

} // namespace

result<letter_place> parse_letter_place(std::string_view text)
{
    const auto slash = text.find('/');
    letter_place place;
    if (slash == std::string_view::npos || !read_number(text.substr(0, slash), place.partition) ||
        !read_number(text.substr(slash + 1), place.offset))
        return failure{errc::invalid_argument,
                       "--letter must be PARTITION/OFFSET such as 3/120, not " + quote(text)};
    return place;
}

letter_place place_of(const kafka::record& letter)
{
    return {letter.partition, letter.offset};
}

result<std::vector<kafka::record>> choose_letters(std::vector<kafka::record> letters,
                                                  const letter_choice& wanted)
{
    const auto is_there = [&](const auto& matches) {
        return std::any_of(letters.begin(), letters.end(), matches);
    };
    for (const auto& place : wanted.places)
        if (!is_there([&](const kafka::record& letter) { return place_of(letter) == place; }))
            return failure{errc::not_found, "There is no letter at " + place.text()};
    for (const auto& event : wanted.events)
        if (!is_there([&](const kafka::record& letter) { return event_of(letter) == event; }))
            return failure{errc::not_found, "There is no letter of the event " + quote(event)};
    std::erase_if(letters, [&](const kafka::record& letter) { return !is_chosen(letter, wanted); });
    std::sort(letters.begin(), letters.end(), [](const kafka::record& a, const kafka::record& b) {
        return place_of(a) < place_of(b);
    });
    return letters;
}

} // namespace tempinbox::ctl
