#include "html/color.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "html/color_names.hpp"
#include "html/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace tempinbox::html {
namespace {

constexpr int look_alike_distance = 24; // of a channel

std::optional<color> parse_hex(std::string_view digits)
{
    std::array<unsigned, 8> values{};
    if (digits.size() != 3 && digits.size() != 4 && digits.size() != 6 && digits.size() != 8)
        return std::nullopt;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const int value = hex_value(digits[i]);
        if (value < 0)
            return std::nullopt;
        values[i] = static_cast<unsigned>(value);
    }
    const bool is_short = digits.size() < 6;
    const auto channel = [&](std::size_t i) {
        const auto value = is_short ? values[i] * 17 : values[2 * i] * 16 + values[2 * i + 1];
        return static_cast<std::uint8_t>(value);
    };
    color parsed{channel(0), channel(1), channel(2)};
    parsed.is_transparent =
        (digits.size() == 4 || digits.size() == 8) && channel(3) < look_alike_distance;
    return parsed;
}

// `255`, `100%`, `0.5`: a share of `whole`, not outside it.
std::optional<double> parse_share(std::string_view text, double whole)
{
    const auto amount = parse_quantity(text);
    if (!amount || !std::isfinite(amount->number))
        return std::nullopt;
    const double number = amount->unit == "%" ? amount->number * whole / 100 : amount->number;
    return std::clamp(number, 0.0, whole);
}

// `120`, `120deg`, `0.3turn`, `2rad`, `130grad`: in degrees from 0 to 360.
std::optional<double> parse_hue(std::string_view text)
{
    const auto amount = parse_quantity(text);
    if (!amount || !std::isfinite(amount->number))
        return std::nullopt;
    const auto [number, unit] = *amount;
    const double degrees = unit == "turn"   ? number * 360
                           : unit == "rad"  ? number * 57.29578
                           : unit == "grad" ? number * 0.9
                                            : number;
    const double rest = std::fmod(degrees, 360);
    return rest < 0 ? rest + 360 : rest;
}

std::uint8_t to_channel(double share)
{
    return static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * 255));
}

// CSS Color 4, 7.1 and 8.1: hsl() and hwb() are the pure hue, brought to a lightness or mixed with
// white and black.
color from_hsl(double hue, double saturation, double lightness)
{
    const auto channel = [&](double n) {
        const double k = std::fmod(n + hue / 30, 12);
        const double reach = saturation * std::min(lightness, 1 - lightness);
        return to_channel(lightness - reach * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0));
    };
    return {channel(0), channel(8), channel(4)};
}

color from_hwb(double hue, double white, double black)
{
    const double sum = std::max(white + black, 1.0);
    const auto pure = from_hsl(hue, 1, 0.5);
    const auto mixed = [&](std::uint8_t channel) {
        return to_channel(channel / 255.0 * (1 - (white + black) / sum) + white / sum);
    };
    return {mixed(pure.red), mixed(pure.green), mixed(pure.blue)};
}

// What stands between the brackets, at most five.
std::vector<std::string_view> split_arguments(std::string_view arguments)
{
    constexpr std::string_view separators = ", /)\n\t";
    std::vector<std::string_view> pieces;
    while (pieces.size() < 5) {
        arguments.remove_prefix(
            std::min(arguments.find_first_not_of(separators), arguments.size()));
        if (arguments.empty())
            break;
        const auto piece = arguments.substr(0, arguments.find_first_of(separators));
        pieces.push_back(piece);
        arguments.remove_prefix(piece.size());
    }
    return pieces;
}

std::optional<color> parse_function(std::string_view name, std::string_view arguments)
{
    const auto pieces = split_arguments(arguments);
    if (pieces.size() < 3 || pieces.size() > 4)
        return std::nullopt;
    const bool is_rgb = name == "rgb" || name == "rgba";
    const bool is_hsl = name == "hsl" || name == "hsla";
    if (!is_rgb && !is_hsl && name != "hwb")
        return std::nullopt;
    // Without their percent sign the shares of hsl() and hwb() are of 100.
    const double whole = is_rgb ? 255 : 100;
    const auto first = is_rgb ? parse_share(pieces[0], whole) : parse_hue(pieces[0]);
    const auto second = parse_share(pieces[1], whole), third = parse_share(pieces[2], whole);
    if (!first || !second || !third)
        return std::nullopt;
    auto parsed = is_rgb   ? color{to_channel(*first / 255), to_channel(*second / 255),
                                 to_channel(*third / 255)}
                  : is_hsl ? from_hsl(*first, *second / 100, *third / 100)
                           : from_hwb(*first, *second / 100, *third / 100);
    if (pieces.size() == 4)
        parsed.is_transparent = parse_share(pieces[3], 1).value_or(1) < 0.1;
    return parsed;
}

color from_rgb(std::uint32_t rgb)
{
    return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8 & 0xff),
            static_cast<std::uint8_t>(rgb & 0xff)};
}

int distance(std::uint8_t a, std::uint8_t b)
{
    return std::abs(static_cast<int>(a) - static_cast<int>(b));
}

} // namespace

std::optional<color> parse_color(std::string_view text)
{
    const auto value = to_lower_ascii(trim(text));
    if (value.starts_with('#'))
        return parse_hex(std::string_view(value).substr(1));
    if (const auto bracket = value.find('('); bracket != std::string::npos)
        return parse_function(std::string_view(value).substr(0, bracket),
                              std::string_view(value).substr(bracket + 1));
    if (value == "transparent")
        return color{0, 0, 0, true};
    const auto named = std::lower_bound(
        color_names.begin(), color_names.end(), std::string_view(value),
        [](const color_name& known, std::string_view wanted) { return known.name < wanted; });
    if (named == color_names.end() || named->name != value)
        return std::nullopt;
    return from_rgb(named->rgb);
}

bool look_alike(const color& a, const color& b)
{
    return distance(a.red, b.red) < look_alike_distance &&
           distance(a.green, b.green) < look_alike_distance &&
           distance(a.blue, b.blue) < look_alike_distance;
}

} // namespace tempinbox::html
