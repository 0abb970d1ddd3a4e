#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tempinbox::html {

struct color
{
    std::uint8_t red = 0, green = 0, blue = 0;
    bool is_transparent = false;

    bool operator==(const color&) const = default;
};

// Hexadecimal, rgb(), hsl(), hwb() and names; absent for all else.
std::optional<color> parse_color(std::string_view text);

// Whether a person could not tell one from the other.
bool look_alike(const color& a, const color& b);

} // namespace tempinbox::html
