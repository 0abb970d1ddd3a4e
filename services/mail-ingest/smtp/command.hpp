#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tempinbox::smtp {

enum class verb {
    ehlo,
    helo,
    mail,
    rcpt,
    data,
    bdat,
    rset,
    noop,
    quit,
    vrfy,
    help,
    starttls,
    auth,
    unserved,
    http,
    unknown
};

// A parsed command line: RFC 5321 4.1.1.
struct command
{
    smtp::verb verb = verb::unknown;
    std::string_view arguments; // for MAIL and RCPT: what follows the colon
};

// `line` is without its CRLF. MAIL without `FROM:` and RCPT without `TO:` get empty arguments.
command parse_command(std::string_view line);

// RFC 1870, 6152, 6531 and 4954 parameters of MAIL; absent if one is unknown, repeated or
// malformed.
struct mail_parameters
{
    std::optional<std::uint64_t> size;
    bool smtputf8 = false;
    bool has_body = false;
    bool has_auth = false;
};
std::optional<mail_parameters> parse_mail_parameters(std::string_view text);

// RFC 3030 2: `chunk-size [LAST]`.
struct chunk
{
    std::uint64_t size = 0;
    bool is_last = false;
};
std::optional<chunk> parse_chunk(std::string_view text);

// The arguments of AUTH (RFC 4954 4). An `=` in place of the response is an empty one.
struct auth_arguments
{
    std::string_view mechanism;
    std::optional<std::string_view> response;
};
// Absent if there is no word, or more than two.
std::optional<auth_arguments> parse_auth(std::string_view text);

} // namespace tempinbox::smtp
