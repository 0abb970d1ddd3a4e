#include "common/http/target.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

namespace tempinbox::http {
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space)
{
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '+' && plus_is_space) {
            decoded.push_back(' ');
        } else if (text[at] != '%') {
            decoded.push_back(text[at]);
        } else {
            const int high = at + 1 < text.size() ? hex_value(text[at + 1]) : -1;
            const int low = at + 2 < text.size() ? hex_value(text[at + 2]) : -1;
            if (high < 0 || low < 0)
                return std::nullopt;
            decoded.push_back(static_cast<char>(high << 4 | low));
            at += 2;
        }
    }
    if (decoded.find('\0') != std::string::npos || !is_valid_utf8(decoded))
        return std::nullopt;
    return decoded;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    while (!query.empty()) {
        const auto end = query.find('&');
        const auto pair = query.substr(0, end);
        query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
        if (pair.empty())
            continue;
        const auto equals = pair.find('=');
        auto name = percent_decode(pair.substr(0, equals), true);
        auto content = percent_decode(
            equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
        if (!name || !content)
            return std::nullopt;
        pairs.emplace_back(std::move(*name), std::move(*content));
    }
    return pairs;
}

std::optional<std::string_view> origin_form(std::string_view target)
{
    if (target.empty() || target.front() == '/' || target == "*")
        return target.empty() ? std::nullopt : std::optional(target);
    const auto scheme = target.substr(0, target.find("://"));
    if (scheme.size() == target.size() || !(equals_ignoring_ascii_case(scheme, "http") ||
                                            equals_ignoring_ascii_case(scheme, "https")))
        return std::nullopt;
    const auto rest = target.substr(scheme.size() + 3);
    const auto path = rest.find_first_of("/?");
    if (path == std::string_view::npos)
        return std::string_view("/");
    return rest[path] == '/' ? std::optional(rest.substr(path)) : std::nullopt;
}

} // namespace tempinbox::http
