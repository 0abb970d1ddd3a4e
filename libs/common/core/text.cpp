#include "common/core/text.hpp"

#include "common/core/ascii.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tempinbox {
namespace {

// Length of the well-formed UTF-8 sequence at `at` (RFC 3629 4), 0 where there is none.
std::size_t sequence_length(std::string_view text, std::size_t at)
{
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<std::uint8_t>(text[at + i]) : std::uint8_t{0};
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
    const auto first = byte(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const bool in_range =
            (first != 0xe0 || byte(1) >= 0xa0) && (first != 0xed || byte(1) <= 0x9f);
        return continues(1) && continues(2) && in_range ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const bool in_range =
            (first != 0xf0 || byte(1) >= 0x90) && (first != 0xf4 || byte(1) <= 0x8f);
        return continues(1) && continues(2) && continues(3) && in_range ? 4 : 0;
    }
    return 0;
}

// The number of bytes from `at` on that are certainly ASCII, checked eight at a time, since most
// text is all ASCII.
std::size_t ascii_length(std::string_view text, std::size_t at)
{
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    const auto start = at;
    for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
        std::memcpy(&word, text.data() + at, sizeof word);
        if ((word & high_bits) != 0)
            break;
    }
    return at - start;
}

bool is_continuation(char c)
{
    return (static_cast<std::uint8_t>(c) & 0xc0) == 0x80;
}

} // namespace

bool is_valid_utf8(std::string_view text)
{
    for (std::size_t at = ascii_length(text, 0); at < text.size(); at += ascii_length(text, at)) {
        const auto length = sequence_length(text, at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

std::string to_clean_utf8(std::string_view text)
{
    if (is_valid_utf8(text) && text.find('\0') == std::string_view::npos)
        return std::string(text);
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const auto length = sequence_length(text, at);
        if (length == 0 || text[at] == '\0') {
            clean += "\xef\xbf\xbd";
            ++at;
            continue;
        }
        clean.append(text.substr(at, length));
        at += length;
    }
    return clean;
}

std::size_t count_characters(std::string_view utf8)
{
    std::size_t count = 0;
    for (const char c : utf8)
        count += is_continuation(c) ? 0 : 1;
    return count;
}

std::string_view take_characters(std::string_view utf8, std::size_t characters)
{
    std::size_t seen = 0;
    for (std::size_t at = 0; at < utf8.size(); ++at) {
        if (is_continuation(utf8[at]))
            continue;
        if (seen++ == characters)
            return utf8.substr(0, at);
    }
    return utf8;
}

std::string_view take_bytes(std::string_view utf8, std::size_t bytes)
{
    if (utf8.size() <= bytes)
        return utf8;
    while (bytes > 0 && is_continuation(utf8[bytes]))
        --bytes;
    return utf8.substr(0, bytes);
}

std::string quote(std::string_view text)
{
    constexpr std::size_t max_characters = 60;
    std::string clean = to_clean_utf8(text.substr(0, max_characters * 4));
    for (char& c : clean)
        if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f)
            c = ' ';
    const auto kept = take_characters(clean, max_characters);
    const bool shortened = kept.size() < clean.size() || text.size() > max_characters * 4;
    return "\"" + std::string(kept) + (shortened ? "…\"" : "\"");
}

std::string quote_name(std::string_view name)
{
    constexpr std::size_t max_characters = 60;
    const bool is_plain = !name.empty() && name.size() <= max_characters &&
                          std::all_of(name.begin(), name.end(), [](char c) {
                              return is_letter_or_digit(c) ||
                                     std::string_view("._-[]").find(c) != std::string_view::npos;
                          });
    return is_plain ? std::string(name) : quote(name);
}

std::string to_lower_ascii(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower)
        c = to_lower(c);
    return lower;
}

bool equals_ignoring_ascii_case(std::string_view a, std::string_view b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (to_lower(a[i]) != to_lower(b[i]))
            return false;
    return true;
}

std::string_view trim(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string replace_all(std::string_view text, std::string_view what, std::string_view with)
{
    std::string replaced;
    for (;;) {
        const auto at = text.find(what);
        replaced.append(text.substr(0, at));
        if (at == std::string_view::npos)
            return replaced;
        replaced.append(with);
        text.remove_prefix(at + what.size());
    }
}

std::vector<std::string> split_list(std::string_view text, char separator)
{
    std::vector<std::string> pieces;
    while (!text.empty()) {
        const auto end = text.find(separator);
        const auto piece = trim(text.substr(0, end));
        if (!piece.empty())
            pieces.emplace_back(piece);
        if (end == std::string_view::npos)
            break;
        text.remove_prefix(end + 1);
    }
    return pieces;
}

std::string join_list(const std::vector<std::string>& texts)
{
    std::string joined;
    for (const auto& text : texts)
        joined += (joined.empty() ? "" : ", ") + text;
    return joined;
}

} // namespace tempinbox
