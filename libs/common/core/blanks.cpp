#include "common/core/blanks.hpp"

namespace tempinbox {
namespace {

bool is_ascii_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr std::size_t max_blank_bytes = 3;

} // namespace

std::size_t blank_length(std::string_view utf8)
{
    if (utf8.empty())
        return 0;
    if (is_ascii_blank(utf8.front()))
        return 1;
    if (utf8.starts_with("\xc2\x85") || utf8.starts_with("\xc2\xa0"))
        return 2;
    const auto three = utf8.substr(0, max_blank_bytes);
    if (three.size() < max_blank_bytes)
        return 0;
    // U+2000 to 200A, 2028, 2029 and 202F.
    if (three.starts_with("\xe2\x80")) {
        const auto last = static_cast<unsigned char>(three[2]);
        return last <= 0x8a || last == 0xa8 || last == 0xa9 || last == 0xaf ? 3 : 0;
    }
    // U+1680, 205F and 3000.
    return three == "\xe1\x9a\x80" || three == "\xe2\x81\x9f" || three == "\xe3\x80\x80" ? 3 : 0;
}

std::string_view trim_blanks(std::string_view utf8)
{
    while (const auto length = blank_length(utf8))
        utf8.remove_prefix(length);
    for (std::size_t length = 1; length <= max_blank_bytes && length <= utf8.size();) {
        if (blank_length(utf8.substr(utf8.size() - length)) == length) {
            utf8.remove_suffix(length);
            length = 1;
        } else {
            ++length;
        }
    }
    return utf8;
}

std::string with_plain_blanks(std::string_view utf8)
{
    std::string plain;
    plain.reserve(utf8.size());
    while (!utf8.empty()) {
        const auto blank = blank_length(utf8);
        plain.push_back(blank == 0 ? utf8.front() : ' ');
        utf8.remove_prefix(blank == 0 ? 1 : blank);
    }
    return plain;
}

} // namespace tempinbox
