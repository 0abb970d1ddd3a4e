#include "mail-ingest/smtp/data_scanner.hpp"

#include <cstring>

namespace tempinbox::smtp {

std::size_t data_scanner::scan(std::string_view bytes, std::string& out)
{
    std::size_t at = 0;
    while (at < bytes.size() && where_ != place::end) {
        const char c = bytes[at];
        switch (where_) {
        case place::line_start:
            if (c == '.') {
                where_ = place::line_start_dot; // RFC 5321 4.5.2: a leading dot is removed, whatever follows
                ++at;
                break;
            }
            where_ = place::inside;
            break;
        case place::line_start_dot:
            if (c == '\r') {
                where_ = place::line_start_dot_cr;
                ++at;
                break;
            }
            where_ = place::inside;
            break;
        case place::line_start_dot_cr:
            if (c == '\n') {
                where_ = place::end;
                ++at;
                break;
            }
            // CRLF.CR and something else is no end: the CR belongs to the line.
            out.push_back('\r');
            where_ = place::cr;
            break;
        case place::inside: {
            const auto rest = bytes.substr(at);
            const auto* newline = static_cast<const char*>(std::memchr(rest.data(), '\n', rest.size()));
            const std::size_t line = newline ? static_cast<std::size_t>(newline - rest.data()) : rest.size();
            const auto* carriage = static_cast<const char*>(std::memchr(rest.data(), '\r', line));
            if (carriage) {
                const auto length = static_cast<std::size_t>(carriage - rest.data()) + 1;
                out.append(rest.substr(0, length));
                at += length;
                where_ = place::cr;
            } else if (newline) {
                has_bare_newline_ = true;
                out.append(rest.substr(0, line + 1));
                at += line + 1;
            } else {
                out.append(rest);
                at = bytes.size();
            }
            break;
        }
        case place::cr:
            if (c == '\n') {
                out.push_back('\n');
                where_ = place::line_start;
                ++at;
            } else {
                has_bare_newline_ = true;
                where_ = place::inside;
            }
            break;
        case place::end:
            break;
        }
    }
    return at;
}

void newline_watch::scan(std::string_view bytes)
{
    if (bytes.empty())
        return;
    if (after_cr_ && bytes.front() != '\n')
        has_bare_newline_ = true;
    for (std::size_t at = 0; at < bytes.size() && !has_bare_newline_;) {
        const auto found = bytes.find_first_of("\r\n", at);
        if (found == std::string_view::npos)
            break;
        if (bytes[found] == '\n') {
            has_bare_newline_ = found > 0 || !after_cr_;
            at = found + 1;
        } else if (found + 1 < bytes.size() && bytes[found + 1] != '\n') {
            has_bare_newline_ = true;
        } else {
            at = found + 2;
        }
    }
    after_cr_ = bytes.back() == '\r';
}

} // namespace tempinbox::smtp
