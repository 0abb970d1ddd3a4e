#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// The path of MAIL or RCPT (RFC 5321 4.1.2).
struct smtp_path
{
    std::string text;   // as given, without brackets and source route; empty: the null sender
    std::string local;  // unquoted
    std::string domain; // lower case, A-labels; `[…]` as given; empty for the bare postmaster
    bool has_utf8 = false;
};

// A path and what follows it on the line.
struct path_argument
{
    smtp::smtp_path smtp_path;
    std::string_view parameters;
};

// RFC 5321 4.1.2: `<…>` with an optional source route, which is dropped (appendix C); leading
// blanks are accepted. Absent if malformed or longer than 4.5.3.1 allows. The null path and the
// bare postmaster parse; the caller decides on them.
std::optional<path_argument> parse_path(std::string_view text);

// The local part an inbox could have: lower case, without `+tag`; absent if no inbox can have it.
std::optional<std::string> inbox_name(std::string_view local);

} // namespace tempinbox::smtp
