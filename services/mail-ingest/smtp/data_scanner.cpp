#include "mail-ingest/smtp/data_scanner.hpp"

#include <algorithm>

namespace tempinbox::smtp {

std::size_t data_scanner::scan(std::string_view bytes, std::string& out)
{
    std::size_t at = 0;
    // The next LF from `at` on. It is searched once for each LF, or a run of CR would take
    // quadratic time.
    std::size_t newline = 0;
    bool is_newline_known = false;
    while (at < bytes.size() && state_ != state::end) {
        const char c = bytes[at];
        switch (state_) {
        case state::line_start:
            if (c == '.') {
                state_ = state::line_start_dot; // RFC 5321 4.5.2: a leading dot is removed,
                                                // whatever follows
                ++at;
                break;
            }
            state_ = state::inside;
            break;
        case state::line_start_dot:
            if (c == '\r') {
                state_ = state::line_start_dot_cr;
                ++at;
                break;
            }
            state_ = state::inside;
            break;
        case state::line_start_dot_cr:
            if (c == '\n') {
                state_ = state::end;
                ++at;
                break;
            }
            // CRLF.CR and another byte is no end: the CR belongs to the line.
            out.push_back('\r');
            state_ = state::cr;
            break;
        case state::inside: {
            if (!is_newline_known || newline < at) {
                newline = std::min(bytes.find('\n', at), bytes.size());
                is_newline_known = true;
            }
            const auto line = bytes.substr(at, newline - at);
            if (const auto carriage = line.find('\r'); carriage != std::string_view::npos) {
                out.append(line.substr(0, carriage + 1));
                at += carriage + 1;
                state_ = state::cr;
            } else if (newline < bytes.size()) {
                has_bare_newline_ = true;
                out.append(bytes.substr(at, newline + 1 - at));
                at = newline + 1;
            } else {
                out.append(line);
                at = bytes.size();
            }
            break;
        }
        case state::cr:
            if (c == '\n') {
                out.push_back('\n');
                state_ = state::line_start;
                ++at;
            } else {
                has_bare_newline_ = true;
                state_ = state::inside;
            }
            break;
        case state::end:
            break;
        }
    }
    return at;
}

void newline_policy::scan(std::string_view bytes)
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
