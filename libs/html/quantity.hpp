#pragma once

#include <optional>
#include <string_view>

namespace tempinbox::html {

// `12.5px`: a number of CSS and what stands behind it.
struct quantity
{
    double number = 0;
    std::string_view unit;
};

std::optional<quantity> parse_quantity(std::string_view text);

// About as many pixels; absent for a share of something else and for what is no length: of numbers
// without a unit, zero alone is one.
std::optional<double> parse_pixels(std::string_view text);

} // namespace tempinbox::html
