#include "html/invisible.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tempinbox::html {
namespace {

struct range
{
    char32_t first;
    char32_t last;
};

// In order. Default_Ignorable_Code_Point of Unicode 15, controls, interlinear annotations, and the
// blank of Braille.
constexpr std::array ranges{
    range{0x0000, 0x0008},  range{0x000b, 0x001f}, range{0x007f, 0x009f},   range{0x00ad, 0x00ad},
    range{0x034f, 0x034f},  range{0x061c, 0x061c}, range{0x115f, 0x1160},   range{0x17b4, 0x17b5},
    range{0x180b, 0x180f},  range{0x200b, 0x200f}, range{0x202a, 0x202e},   range{0x2060, 0x206f},
    range{0x2800, 0x2800},  range{0x3164, 0x3164}, range{0xfe00, 0xfe0f},   range{0xfeff, 0xfeff},
    range{0xffa0, 0xffa0},  range{0xfff0, 0xfffb}, range{0x1bca0, 0x1bca3}, range{0x1d173, 0x1d17a},
    range{0xe0000, 0xe0fff}};

bool is_invisible(char32_t point)
{
    const auto nearest =
        std::lower_bound(ranges.begin(), ranges.end(), point,
                         [](const range& each, char32_t sought) { return each.last < sought; });
    return nearest != ranges.end() && nearest->first <= point;
}

} // namespace

char32_t take_point(std::string_view utf8, std::size_t& at)
{
    const auto first = static_cast<std::uint8_t>(utf8[at++]);
    if (first < 0x80)
        return first;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    char32_t point = first & (0x3fU >> more);
    for (int i = 0; i < more && at < utf8.size(); ++i)
        point = (point << 6) | (static_cast<std::uint8_t>(utf8[at++]) & 0x3fU);
    return point;
}

visible remove_invisible(std::string_view text)
{
    const auto clean = to_clean_utf8(text);
    visible seen;
    seen.text.reserve(clean.size());
    for (std::size_t at = 0; at < clean.size();) {
        const auto begin = at;
        const auto point = take_point(clean, at);
        if (point == 0x2028 || point == 0x2029)
            seen.text += '\n';
        else if (!is_invisible(point))
            seen.text.append(clean, begin, at - begin);
        else if (point != '\r')
            ++seen.removed;
    }
    return seen;
}

bool has_glyph(std::string_view utf8)
{
    for (std::size_t at = 0; at < utf8.size();) {
        const auto point = take_point(utf8, at);
        const bool is_blank = point <= 0x20 || point == 0x2028 || point == 0x2029;
        if (!is_blank && !is_invisible(point))
            return true;
    }
    return false;
}

} // namespace tempinbox::html
