#include "common/log/line.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <cmath>

namespace tempinbox::log {
namespace {

constexpr std::size_t max_text_bytes = 4'096;

std::string_view name_of(level severity)
{
    switch (severity) {
    case level::debug:
        return "debug";
    case level::info:
        return "info";
    case level::warning:
        return "warning";
    case level::error:
        return "error";
    }
    return "error";
}

// RFC 8259 7, and DEL: text from outside can neither begin a line of its own nor control a
// terminal.
void append_quoted(std::string& line, std::string_view text)
{
    constexpr char hex[] = "0123456789abcdef";
    line += '"';
    for (const char c : to_clean_utf8(text.substr(0, max_text_bytes))) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if (c == '\n') {
            line += "\\n";
        } else if (c == '\r') {
            line += "\\r";
        } else if (c == '\t') {
            line += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            line += "\\u00";
            line += hex[byte >> 4];
            line += hex[byte & 15];
        } else {
            line += c;
        }
    }
    line += '"';
}

void append_member(std::string& line, std::string_view name, std::string_view text)
{
    line += '"';
    line += name;
    line += "\":";
    append_quoted(line, text);
}

struct append_value
{
    std::string& line;

    void operator()(std::string_view text) const { append_quoted(line, text); }
    void operator()(std::int64_t number) const { line += std::to_string(number); }
    void operator()(bool truth) const { line += truth ? "true" : "false"; }
    void operator()(double number) const
    {
        // JSON cannot express infinity.
        if (!std::isfinite(number)) {
            line += "null";
            return;
        }
        char buffer[32];
        const auto written = std::to_chars(buffer, buffer + sizeof buffer, number);
        line.append(buffer, written.ptr);
    }
};

} // namespace

std::string origin_members(std::string_view service, std::string_view version,
                           std::string_view instance)
{
    std::string text;
    append_member(text, "service", service);
    text += ',';
    append_member(text, "version", version);
    text += ',';
    append_member(text, "instance", instance);
    return text;
}

std::string format_line(time_point now, level severity, std::string_view message,
                        std::string_view origin, std::uint64_t suppressed,
                        std::initializer_list<field> fields)
{
    std::string line;
    line.reserve(256);
    line += '{';
    append_member(line, "ts", to_iso8601(now));
    line += ',';
    append_member(line, "level", name_of(severity));
    line += ',';
    append_member(line, "msg", message);
    if (!origin.empty()) {
        line += ',';
        line += origin;
    }
    for (const auto& one : fields) {
        line += ",\"";
        line += one.name;
        line += "\":";
        std::visit(append_value{line}, one.value);
    }
    if (suppressed > 0)
        line += ",\"suppressed\":" + std::to_string(suppressed);
    line += '}';
    return line;
}

} // namespace tempinbox::log
