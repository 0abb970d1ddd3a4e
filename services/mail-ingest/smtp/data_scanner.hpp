#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// Takes the bytes after DATA apart: removes the transparency dots and finds the end, which is
// CRLF.CRLF and nothing else, however the bytes are cut. Notices bare CR and bare LF (RFC
// 5321 2.3.8). One for each message.
class data_scanner
{
public:
    // Scans until the end of the message or of the bytes; appends the message's bytes to `out`;
    // answers how many bytes were used.
    std::size_t scan(std::string_view bytes, std::string& out);

    bool is_complete() const { return state_ == state::end; }
    bool has_bare_newline() const { return has_bare_newline_; }

private:
    // What came before the next byte.
    enum class state { line_start, line_start_dot, line_start_dot_cr, inside, cr, end };

    state state_ = state::line_start;
    bool has_bare_newline_ = false;
};

// Notices bare CR and bare LF in chunks that are otherwise taken as they are (BDAT).
class newline_policy
{
public:
    void scan(std::string_view bytes);
    // At the end of the message: a last CR alone is bare too.
    bool has_bare_newline() const { return has_bare_newline_ || after_cr_; }

private:
    bool after_cr_ = false;
    bool has_bare_newline_ = false;
};

} // namespace tempinbox::smtp
