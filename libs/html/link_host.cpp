#include "html/link_host.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <idn2.h>
#include <optional>

namespace tempinbox::html {
namespace {

constexpr std::size_t max_host_length = 253;

constexpr std::string_view not_valid = "a host name that is not valid";

bool is_blank_or_control(char c)
{
    return static_cast<std::uint8_t>(c) <= 0x20;
}

// Browsers leave line breaks and tabs out wherever they stand, and all controls at both ends.
std::string without_line_breaks(std::string_view url)
{
    while (!url.empty() && is_blank_or_control(url.front()))
        url.remove_prefix(1);
    while (!url.empty() && is_blank_or_control(url.back()))
        url.remove_suffix(1);
    std::string kept;
    for (const char c : url)
        if (c != '\t' && c != '\n' && c != '\r')
            kept += c == '\\' ? '/' : c;
    return kept;
}

bool is_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<std::uint8_t>(c) < 0x80; });
}

// With its escapes decoded; absent if one is none, or stands for what no host may have (WHATWG URL
// 3.1).
std::optional<std::string> decode_escapes(std::string_view host)
{
    constexpr std::string_view forbidden = "#%/:<>?@[\\]^|\x7f";
    std::string decoded;
    for (std::size_t at = 0; at < host.size(); ++at) {
        if (host[at] != '%') {
            decoded += host[at];
            continue;
        }
        unsigned byte = 0;
        const auto digits = host.substr(at + 1, 2);
        const auto* const end = digits.data() + digits.size();
        if (digits.size() < 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end)
            return std::nullopt;
        const auto c = static_cast<char>(byte);
        if (is_blank_or_control(c) || forbidden.find(c) != std::string_view::npos)
            return std::nullopt;
        decoded += c;
        at += 2;
    }
    return decoded;
}

std::string in_ascii(const std::string& host)
{
    if (is_ascii(host))
        return to_lower_ascii(host);
    std::uint8_t* converted = nullptr;
    if (idn2_lookup_u8(reinterpret_cast<const std::uint8_t*>(host.c_str()), &converted,
                       IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
        return std::string(not_valid);
    std::string ascii(reinterpret_cast<const char*>(converted));
    idn2_free(converted);
    return ascii.find('%') == std::string::npos ? ascii : std::string(not_valid);
}

} // namespace

std::string link_host(std::string_view url)
{
    const auto text = without_line_breaks(url);
    const auto colon = text.find(':');
    const auto scheme = to_lower_ascii(std::string_view(text).substr(0, colon));
    if (colon == std::string::npos || (scheme != "http" && scheme != "https"))
        return {};
    auto rest = std::string_view(text).substr(colon + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    auto authority = rest.substr(0, rest.find_first_of("/?#"));
    if (const auto user = authority.rfind('@'); user != std::string_view::npos)
        authority.remove_prefix(user + 1);
    if (authority.empty() || authority.size() > max_host_length)
        return {};
    const auto decoded = decode_escapes(authority);
    auto host = decoded ? in_ascii(*decoded) : std::string(not_valid);
    std::replace_if(
        host.begin(), host.end(),
        [](char c) { return std::string_view("<>&\"'").find(c) != std::string_view::npos; }, '?');
    return host;
}

} // namespace tempinbox::html
