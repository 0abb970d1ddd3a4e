#include "html/quantity.hpp"

#include "common/core/text.hpp"

#include <charconv>

namespace tempinbox::html {

std::optional<quantity> parse_quantity(std::string_view text)
{
    text = trim(text);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    quantity parsed;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), parsed.number);
    if (error != std::errc())
        return std::nullopt;
    parsed.unit = text.substr(static_cast<std::size_t>(end - text.data()));
    return parsed;
}

std::optional<double> parse_pixels(std::string_view text)
{
    struct unit_size
    {
        std::string_view unit;
        double pixels;
    };
    constexpr unit_size units[] = {{"px", 1},    {"pt", 4.0 / 3}, {"pc", 16},   {"in", 96},
                                   {"cm", 37.8}, {"mm", 3.78},    {"q", 0.945}, {"em", 16},
                                   {"rem", 16},  {"ex", 8},       {"ch", 8},    {"vw", 6},
                                   {"vh", 6},    {"vmin", 6},     {"vmax", 6}};
    const auto length = parse_quantity(text);
    if (!length)
        return std::nullopt;
    if (length->unit.empty() && length->number == 0)
        return 0;
    for (const auto& [unit, pixels] : units)
        if (length->unit == unit)
            return length->number * pixels;
    return std::nullopt;
}

} // namespace tempinbox::html
