#include "common/http/request_head.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/core/version.hpp"

#include <algorithm>

namespace tempinbox::http {
namespace {

bool is_token(std::string_view text)
{
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [marks](char c) {
        return is_letter_or_digit(c) || marks.find(c) != std::string_view::npos;
    });
}

bool is_field_value(std::string_view text)
{
    return std::none_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

} // namespace

result<std::string> make_request_head(const client_request& outgoing, const target_url& url)
{
    if (!is_token(outgoing.method))
        return failure{errc::invalid_argument,
                       "the method is malformed: " + quote(outgoing.method)};
    std::string head;
    head.reserve(512);
    head.append(outgoing.method).append(" ").append(url.target).append(" HTTP/1.1\r\n");
    const auto add = [&head](std::string_view name, std::string_view content) {
        head.append(name).append(": ").append(content).append("\r\n");
    };
    if (!find_header(outgoing.headers, "Host"))
        add("Host", url.authority);
    if (!find_header(outgoing.headers, "User-Agent"))
        add("User-Agent", "tempinbox/" + std::string(version()));
    for (const auto& [name, content] : outgoing.headers) {
        if (!is_token(name) || !is_field_value(content))
            return failure{errc::invalid_argument, "the header " + quote(name) + " is malformed"};
        if (!equals_ignoring_ascii_case(name, "content-length") &&
            !equals_ignoring_ascii_case(name, "transfer-encoding"))
            add(name, content);
    }
    // RFC 9110 8.6: a method that usually has content says so even when it has none.
    const bool is_bodyless =
        outgoing.method == "GET" || outgoing.method == "HEAD" || outgoing.method == "DELETE";
    if (!outgoing.body.empty() || !is_bodyless)
        add("Content-Length", std::to_string(outgoing.body.size()));
    head.append("\r\n");
    return head;
}

} // namespace tempinbox::http
