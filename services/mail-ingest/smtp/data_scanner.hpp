#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// Scans the bytes after DATA: removes transparency dots and finds the end, which is CRLF.CRLF and
// nothing else, however the bytes are split. Detects bare CR and bare LF (RFC 5321 2.3.8). One
// scanner for each message.
class data_scanner
{
public:
    // Scans up to the end of the message or of the bytes; appends message bytes to `out`; returns
    // how many input bytes were consumed.
    std::size_t scan(std::string_view bytes, std::string& out);

    bool is_complete() const { return state_ == state::end; }
    bool has_bare_newline() const { return has_bare_newline_; }

private:
    // What the bytes so far ended in.
    enum class state { line_start, line_start_dot, line_start_dot_cr, inside, cr, end };

    state state_ = state::line_start;
    bool has_bare_newline_ = false;
};

// Detects bare CR and bare LF in BDAT chunks, whose bytes are otherwise stored unchanged.
class newline_policy
{
public:
    void scan(std::string_view bytes);
    // Call this at the end of the message: a final CR is bare too.
    bool has_bare_newline() const { return has_bare_newline_ || after_cr_; }

private:
    bool after_cr_ = false;
    bool has_bare_newline_ = false;
};

} // namespace tempinbox::smtp
