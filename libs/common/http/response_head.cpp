#include "common/http/response_head.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <cstdio>
#include <ctime>

namespace tempinbox::http {
namespace {

void append_number(std::string& out, std::uint64_t number)
{
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_field(std::string& out, std::string_view name, std::string_view content)
{
    out.append(name).append(": ");
    const auto start = out.size();
    out.append(content);
    for (auto at = start; at < out.size(); ++at)
        if ((static_cast<unsigned char>(out[at]) < 0x20 && out[at] != '\t') || out[at] == 0x7f)
            out[at] = ' ';
    out.append("\r\n");
}

bool is_framing(std::string_view name)
{
    return equals_ignoring_ascii_case(name, "content-length") ||
           equals_ignoring_ascii_case(name, "transfer-encoding") ||
           equals_ignoring_ascii_case(name, "connection") ||
           equals_ignoring_ascii_case(name, "date") ||
           equals_ignoring_ascii_case(name, "x-request-id");
}

} // namespace

bool status_has_content(unsigned status)
{
    return status >= 200 && status != 204 && status != 304;
}

void append_response_head(std::string& out, const response& answer, const head_options& options)
{
    out.append("HTTP/1.1 ");
    append_number(out, answer.status);
    out.append(" ")
        .append(status_name(answer.status))
        .append("\r\nDate: ")
        .append(options.date)
        .append("\r\n");
    for (const auto& [name, content] : answer.headers)
        if (!is_framing(name))
            append_field(out, name, content);
    if (options.is_streamed) {
        if (options.is_http_11)
            out.append("Transfer-Encoding: chunked\r\n");
    } else if (status_has_content(answer.status)) {
        out.append("Content-Length: ");
        append_number(out, answer.body.size());
        out.append("\r\n");
    }
    append_field(out, "X-Request-Id", options.request_id);
    if (!options.is_kept)
        out.append("Connection: close\r\n");
    else if (!options.is_http_11)
        out.append("Connection: keep-alive\r\n");
    out.append("\r\n");
}

std::string_view date_header::text()
{
    const auto now = std::time(nullptr);
    if (now != second_) {
        constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        std::tm utc{};
        ::gmtime_r(&now, &utc);
        char buffer[64];
        const auto length =
            std::snprintf(buffer, sizeof buffer, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                          days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900,
                          utc.tm_hour, utc.tm_min, utc.tm_sec);
        text_.assign(buffer, static_cast<std::size_t>(length));
        second_ = now;
    }
    return text_;
}

} // namespace tempinbox::http
