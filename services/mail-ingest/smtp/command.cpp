#include "mail-ingest/smtp/command.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <limits>

namespace tempinbox::smtp {
namespace {

struct named_verb
{
    std::string_view name;
    smtp::verb verb;
};

constexpr named_verb verbs[] = {
    {"EHLO", verb::ehlo},     {"HELO", verb::helo},         {"MAIL", verb::mail},
    {"RCPT", verb::rcpt},     {"DATA", verb::data},         {"BDAT", verb::bdat},
    {"RSET", verb::rset},     {"NOOP", verb::noop},         {"QUIT", verb::quit},
    {"VRFY", verb::vrfy},     {"HELP", verb::help},         {"EXPN", verb::unserved},
    {"ETRN", verb::unserved}, {"STARTTLS", verb::starttls}, {"AUTH", verb::auth},
    {"TURN", verb::unserved}, {"SEND", verb::unserved},     {"SOML", verb::unserved},
    {"SAML", verb::unserved}, {"GET", verb::http},          {"POST", verb::http},
    {"CONNECT", verb::http},  {"HEAD", verb::http},         {"PUT", verb::http},
    {"DELETE", verb::http},   {"PATCH", verb::http},        {"OPTIONS", verb::http},
    {"TRACE", verb::http},    {"PRI", verb::http},
};

std::string_view take_word(std::string_view& text)
{
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    return word;
}

// RFC 1870 4: up to 20 digits, which may exceed 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view digits)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || digits.size() > 20 || end != digits.data() + digits.size())
        return std::nullopt;
    return error == std::errc{} ? value : std::numeric_limits<std::uint64_t>::max();
}

// `FROM:` or `TO:`; blanks before the colon are accepted.
std::string_view after_colon(std::string_view text, std::string_view keyword)
{
    if (!equals_ignoring_ascii_case(text.substr(0, keyword.size()), keyword))
        return {};
    text.remove_prefix(keyword.size());
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    return !text.empty() && text.front() == ':' ? text.substr(1) : std::string_view{};
}

} // namespace

command parse_command(std::string_view line)
{
    while (!line.empty() && line.back() == ' ')
        line.remove_suffix(1);
    command parsed;
    parsed.arguments = line;
    const auto word = take_word(parsed.arguments);
    for (const auto& [name, known] : verbs)
        if (equals_ignoring_ascii_case(word, name))
            parsed.verb = known;
    if (parsed.verb == verb::mail)
        parsed.arguments = after_colon(parsed.arguments, "FROM");
    if (parsed.verb == verb::rcpt)
        parsed.arguments = after_colon(parsed.arguments, "TO");
    return parsed;
}

std::optional<mail_parameters> parse_mail_parameters(std::string_view text)
{
    mail_parameters parsed;
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty()) {
        const auto word = take_word(text);
        const auto equals = word.find('=');
        const auto name = word.substr(0, equals);
        const auto value =
            equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
        if (equals_ignoring_ascii_case(name, "SIZE") && !parsed.size) {
            parsed.size = parse_size(value);
            if (!parsed.size)
                return std::nullopt;
        } else if (equals_ignoring_ascii_case(name, "BODY") && !parsed.has_body) {
            parsed.has_body = true;
            if (!equals_ignoring_ascii_case(value, "7BIT") &&
                !equals_ignoring_ascii_case(value, "8BITMIME"))
                return std::nullopt;
        } else if (equals_ignoring_ascii_case(word, "SMTPUTF8") && !parsed.smtputf8) {
            parsed.smtputf8 = true;
        } else if (equals_ignoring_ascii_case(name, "AUTH") && !parsed.has_auth && !value.empty()) {
            parsed.has_auth = true;
        } else {
            return std::nullopt;
        }
    }
    return parsed;
}

std::optional<chunk> parse_chunk(std::string_view text)
{
    const auto size = parse_size(take_word(text));
    if (!size || (!text.empty() && !equals_ignoring_ascii_case(text, "LAST")))
        return std::nullopt;
    chunk parsed;
    parsed.size = *size;
    parsed.is_last = !text.empty();
    return parsed;
}

std::optional<auth_arguments> parse_auth(std::string_view text)
{
    auth_arguments parsed;
    parsed.mechanism = take_word(text);
    if (parsed.mechanism.empty())
        return std::nullopt;
    if (text.empty())
        return parsed;
    const auto response = take_word(text);
    if (!text.empty())
        return std::nullopt;
    parsed.response = response == "=" ? std::string_view{} : response;
    return parsed;
}

} // namespace tempinbox::smtp
