#include "html/references.hpp"

#include "common/core/ascii.hpp"
#include "html/reference_names.hpp"

#include <algorithm>
#include <iterator>

namespace tempinbox::html {
namespace {

// What browsers read for references to the C1 controls: windows-1252, as their authors meant.
constexpr char32_t windows_1252[] = {
    U'€', 0x81, U'‚', U'ƒ', U'„', U'…', U'†', U'‡', U'ˆ', U'‰', U'Š', U'‹', U'Œ', 0x8d, U'Ž', 0x8f,
    0x90, U'‘', U'’', U'“', U'”', U'•', U'–', U'—', U'˜', U'™', U'š', U'›', U'œ', 0x9d, U'ž', U'Ÿ'};

constexpr std::size_t max_name_length = 31; // CounterClockwiseContourIntegral

int digit_value(char c, int base)
{
    return base == 16 || is_digit(c) ? hex_value(c) : -1;
}

const reference_name* find_name(std::string_view name)
{
    const auto at = std::lower_bound(
        reference_names.begin(), reference_names.end(), name,
        [](const reference_name& known, std::string_view wanted) { return known.name < wanted; });
    return at != reference_names.end() && at->name == name ? &*at : nullptr;
}

character_reference read_numeric(std::string_view html)
{
    const bool is_hex = html.size() > 2 && (html[2] | 0x20) == 'x';
    const int base = is_hex ? 16 : 10;
    const std::size_t first = is_hex ? 3 : 2;
    std::size_t at = first;
    char32_t point = 0;
    for (; at < html.size() && digit_value(html[at], base) >= 0; ++at)
        point = std::min<char32_t>(point * static_cast<char32_t>(base) +
                                       static_cast<char32_t>(digit_value(html[at], base)),
                                   0x110000);
    if (at == first)
        return {};
    if (at < html.size() && html[at] == ';')
        ++at;
    if (point >= 0x80 && point < 0xa0)
        point = windows_1252[point - 0x80];
    const bool is_character = point != 0 && point < 0x110000 && (point < 0xd800 || point >= 0xe000);
    return {at, {is_character ? point : U'\xfffd'}};
}

character_reference read_named(std::string_view html, reference_context context)
{
    const auto rest = html.substr(1, max_name_length + 1);
    const auto stop = std::find_if_not(rest.begin(), rest.end(), is_letter_or_digit);
    const auto length = static_cast<std::size_t>(stop - rest.begin());
    if (stop != rest.end() && *stop == ';')
        if (const auto* known = find_name(rest.substr(0, length + 1)))
            return {length + 2, known->text};
    // Tries the longest name first among those allowed without a semicolon.
    constexpr std::size_t min_length = 2, max_length = 6; // &lt, &eacute
    for (auto size = std::min(length, max_length); size >= min_length; --size) {
        const auto* known = find_name(rest.substr(0, size));
        if (!known)
            continue;
        // `?a=1&copy=2` is a query, not a copyright sign.
        const char next = size < rest.size() ? rest[size] : ' ';
        if (context == reference_context::attribute && (next == '=' || is_letter_or_digit(next)))
            return {};
        return {size + 1, known->text};
    }
    return {};
}

// The code point is no surrogate.
std::string encode_utf8(char32_t point)
{
    const auto byte = [](char32_t bits) {
        return static_cast<char>(static_cast<unsigned char>(bits));
    };
    const auto tail = [&](int shift) { return byte(0x80 | (point >> shift & 0x3f)); };
    if (point < 0x80)
        return {byte(point)};
    if (point < 0x800)
        return {byte(0xc0 | point >> 6), tail(0)};
    if (point < 0x10000)
        return {byte(0xe0 | point >> 12), tail(6), tail(0)};
    return {byte(0xf0 | point >> 18), tail(12), tail(6), tail(0)};
}

std::string text_of(const character_reference& reference)
{
    const auto [first, second] = reference.text;
    return second == 0 ? encode_utf8(first) : encode_utf8(first) + encode_utf8(second);
}

std::string as_shown(char32_t point)
{
    if (point <= ' ' || point == 0xa0 || (point >= 0x2000 && point <= 0x200a) || point == 0x202f ||
        point == 0x205f)
        return " ";
    if (point == 0xad || (point >= 0x200b && point <= 0x200d) || point == 0x2060)
        return {};
    return encode_utf8(point);
}

} // namespace

character_reference read_character_reference(std::string_view html, reference_context context)
{
    if (html.size() < 3 || html.front() != '&')
        return {};
    return html[1] == '#' ? read_numeric(html) : read_named(html, context);
}

std::string as_shown(const character_reference& reference)
{
    const auto [first, second] = reference.text;
    const auto shown = as_shown(first);
    const auto behind = second == 0 ? std::string() : as_shown(second);
    return shown == " " && behind == " " ? shown : shown + behind;
}

std::string decode_character_references(std::string_view html, reference_context context)
{
    std::string text;
    text.reserve(html.size());
    while (!html.empty()) {
        const auto reference = read_character_reference(html, context);
        if (reference.length > 0) {
            text += text_of(reference);
            html.remove_prefix(reference.length);
            continue;
        }
        const auto length = std::min(html.find('&', 1), html.size());
        text += html.substr(0, length);
        html.remove_prefix(length);
    }
    return text;
}

} // namespace tempinbox::html
