#include "mail-ingest/envelope/path.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <algorithm>

#include <idn2.h>

namespace tempinbox::smtp {
namespace {

// RFC 5321 4.5.3.1.1 to 4.5.3.1.3.
constexpr std::size_t max_local_part_length = 64;
constexpr std::size_t max_domain_length = 255;
constexpr std::size_t max_path_length = 256;
constexpr std::size_t max_inbox_name_length = 63;

bool has_high_byte(std::string_view text)
{
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

bool is_name_character(char c)
{
    return is_lower(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
}

// RFC 5321 4.1.2 atext and dots, parsed loosely: senders with dots in odd places exist. RFC 6531
// 3.3 adds UTF-8.
bool is_local_character(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f &&
           std::string_view("()<>@,;:\\\"[]").find(c) == std::string_view::npos;
}

bool is_domain_character(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
}

// The index after the closing quote of the quoted string that begins `text`; 0 if it is not closed.
std::size_t quoted_length(std::string_view text, std::string& unquoted)
{
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"')
            return at + 1;
        if (text[at] == '\\' && ++at == text.size())
            return 0;
        if (static_cast<unsigned char>(text[at]) < 0x20 || text[at] == 0x7f)
            return 0;
        unquoted.push_back(text[at]);
    }
    return 0;
}

std::optional<std::string> to_a_labels(std::string_view domain)
{
    if (!has_high_byte(domain))
        return to_lower_ascii(domain);
    const std::string text(domain);
    std::uint8_t* converted = nullptr;
    if (idn2_lookup_u8(reinterpret_cast<const std::uint8_t*>(text.c_str()), &converted,
                       IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
        return std::nullopt;
    std::string labels(reinterpret_cast<const char*>(converted));
    idn2_free(converted);
    return labels;
}

std::optional<std::string> read_domain(std::string_view text)
{
    if (text.empty() || text.size() > max_domain_length)
        return std::nullopt;
    if (text.front() == '[') {
        const bool is_literal = text.size() > 2 &&
                                text.find_first_of("[]<> ", 1) == text.size() - 1 &&
                                text.back() == ']';
        return is_literal ? std::optional<std::string>(text) : std::nullopt;
    }
    if (text.back() == '.')
        text.remove_suffix(1);
    if (text.empty() || text.front() == '.' || text.find("..") != std::string_view::npos)
        return std::nullopt;
    if (!std::all_of(text.begin(), text.end(), is_domain_character))
        return std::nullopt;
    return to_a_labels(text);
}

// The position of the `>` that ends `<…>`: the first one outside quotes.
std::size_t closing_bracket(std::string_view text)
{
    bool is_quoted = false;
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (is_quoted && text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            is_quoted = !is_quoted;
        else if (text[at] == '>' && !is_quoted)
            return at;
    }
    return std::string_view::npos;
}

bool read_path(std::string_view text, smtp_path& found)
{
    found.text = text;
    found.has_utf8 = has_high_byte(text);
    if (found.has_utf8 && !is_valid_utf8(text))
        return false;
    std::size_t length = 0;
    if (!text.empty() && text.front() == '"') {
        length = quoted_length(text, found.local);
    } else {
        while (length < text.size() && is_local_character(text[length]))
            ++length;
        found.local = text.substr(0, length);
    }
    if (length == 0 || length > max_local_part_length)
        return false;
    if (length == text.size())
        return equals_ignoring_ascii_case(
            found.local, "postmaster"); // RFC 5321 4.1.1.3: the only name without a domain
    if (text[length] != '@')
        return false;
    auto domain = read_domain(text.substr(length + 1));
    if (!domain)
        return false;
    found.domain = std::move(*domain);
    return true;
}

} // namespace

std::optional<path_argument> parse_path(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    if (text.empty() || text.front() != '<')
        return std::nullopt;
    const auto end = closing_bracket(text);
    if (end == std::string_view::npos || end + 1 > max_path_length)
        return std::nullopt;

    path_argument parsed;
    parsed.parameters = text.substr(end + 1);
    if (!parsed.parameters.empty() && parsed.parameters.front() != ' ')
        return std::nullopt;
    auto inside = text.substr(1, end - 1);
    if (inside.empty())
        return parsed;
    if (inside.front() == '@') {
        const auto colon = inside.find(':');
        if (colon == std::string_view::npos)
            return std::nullopt;
        inside.remove_prefix(colon + 1);
    }
    if (!read_path(inside, parsed.smtp_path))
        return std::nullopt;
    return parsed;
}

std::optional<std::string> inbox_name(std::string_view local)
{
    auto name = to_lower_ascii(local.substr(0, local.find('+')));
    if (name.empty() || name.size() > max_inbox_name_length ||
        !std::all_of(name.begin(), name.end(), is_name_character))
        return std::nullopt;
    const bool starts_well = is_lower(name.front()) || is_digit(name.front());
    return starts_well ? std::optional<std::string>(std::move(name)) : std::nullopt;
}

} // namespace tempinbox::smtp
