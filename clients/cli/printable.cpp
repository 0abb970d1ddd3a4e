#include "cli/printable.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::cli {
namespace {

struct code_point
{
    char32_t value = 0;
    std::size_t bytes = 1;
};

// The first one of valid UTF-8.
code_point first_of(std::string_view utf8)
{
    const auto byte = [utf8](std::size_t i) { return static_cast<unsigned char>(utf8[i]); };
    if (byte(0) < 0x80)
        return {byte(0), 1};
    const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    char32_t value = byte(0) & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i)
        value = (value << 6) | (byte(i) & 0x3fU);
    return {value, bytes};
}

bool is_control(char32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

// Unicode Bidirectional Algorithm, section 2: embeddings, overrides and isolates.
bool turns_direction(char32_t c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string clean(std::string_view utf8, bool is_one_line)
{
    const auto valid = to_clean_utf8(utf8);
    std::string kept;
    kept.reserve(valid.size());
    for (std::string_view left = valid; !left.empty();) {
        const auto next = first_of(left);
        const bool is_break = next.value == U'\n' || next.value == U'\t';
        if (is_break && is_one_line)
            kept += ' ';
        else if (is_break || (!is_control(next.value) && !turns_direction(next.value)))
            kept += left.substr(0, next.bytes);
        left.remove_prefix(next.bytes);
    }
    return kept;
}

std::string pad(std::string_view text, std::size_t width)
{
    const auto characters = count_characters(text);
    return std::string(text) + std::string(width > characters ? width - characters : 0, ' ');
}

} // namespace

std::string printable(std::string_view utf8)
{
    return clean(utf8, false);
}

std::string printable_line(std::string_view utf8)
{
    return clean(utf8, true);
}

std::string to_fields(const std::vector<std::pair<std::string, std::string>>& fields)
{
    std::size_t width = 0;
    for (const auto& [name, value] : fields)
        width = std::max(width, name.size());
    std::string text;
    for (const auto& [name, value] : fields)
        text.append(pad(name + ":", width + 3)).append(value).append("\n");
    return text;
}

std::string to_table(const std::vector<std::string>& headings,
                     const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths;
    widths.reserve(headings.size());
    for (const auto& heading : headings)
        widths.push_back(heading.size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], count_characters(row[i]));
    std::string text;
    const auto add = [&](const std::vector<std::string>& row) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            text += pad(row[i], widths[i] + 2);
        text += row.back() + "\n";
    };
    add(headings);
    for (const auto& row : rows)
        add(row);
    return text;
}

} // namespace tempinbox::cli
