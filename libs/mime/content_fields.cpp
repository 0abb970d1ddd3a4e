#include "mime/content_fields.hpp"

#include "common/core/text.hpp"
#include "mime/header.hpp"
#include "mime/parameters.hpp"

#include <algorithm>

namespace tempinbox::mime {
namespace {

// RFC 2045 5.1; empty if there is none or it is too long to be a token.
std::string_view leading_token(std::string_view text)
{
    constexpr std::size_t max_length = 127;
    const auto end = std::find_if_not(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7f &&
               std::string_view("()<>@,;:\\\"/[]?=").find(c) == std::string_view::npos;
    });
    const auto length = static_cast<std::size_t>(end - text.begin());
    return length > max_length ? std::string_view{} : text.substr(0, length);
}

// `multipart/mixed boundary=x`: the semicolon is missing (RFC 2045 5.1).
std::string with_semicolon(const std::string& value)
{
    const auto slash = value.find('/');
    const auto type_end = slash == std::string::npos ? slash : value.find_first_of("; \t", slash);
    const auto parameter_begin =
        type_end == std::string::npos ? type_end : value.find_first_not_of(" \t", type_end);
    if (parameter_begin == std::string::npos || type_end == slash + 1 || value[type_end] == ';' ||
        value[parameter_begin] == ';' || value.find('=', parameter_begin) == std::string::npos ||
        value[parameter_begin] == '(')
        return value;
    return value.substr(0, type_end) + "; " + value.substr(parameter_begin);
}

// A comment, which RFC 2045 5.1 allows anywhere, becomes a blank.
std::string without_comments(std::string_view value)
{
    std::string plain;
    for (std::size_t at = 0; at < value.size();) {
        const auto end = value[at] == '(' ? comment_end(value, at) : at + 1;
        if (end == std::string_view::npos)
            break;
        plain.push_back(value[at] == '(' ? ' ' : value[at]);
        at = end;
    }
    return plain;
}

// The text before the parameters.
std::string leading_word(std::string_view value)
{
    constexpr std::size_t max_bytes = 1'000;
    const auto plain = without_comments(value.substr(0, max_bytes));
    return to_lower_ascii(trim(std::string_view(plain).substr(0, plain.find(';'))));
}

// The first word of these: quotes around it and more words behind it are rubbish.
std::string_view first_word(std::string_view words)
{
    constexpr std::string_view rubbish = " \t\"',:/=";
    words.remove_prefix(std::min(words.find_first_not_of(rubbish), words.size()));
    return words.substr(0, words.find_first_of(rubbish));
}

// Letters and digits alone: `Quoted_Printable` and `base-64` are what they seem to be.
std::string letters_and_digits(std::string_view word)
{
    std::string kept;
    for (const char c : word)
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            kept.push_back(c);
    return kept;
}

} // namespace

content_type parse_content_type(const std::string& given)
{
    const auto value = with_semicolon(given);
    content_type parsed;
    const auto named = leading_word(value);
    const auto slash = std::min(named.find('/'), named.size());
    const auto major = trim(std::string_view(named).substr(0, slash));
    const auto minor = leading_token(
        trim(std::string_view(named).substr(slash).substr(slash == named.size() ? 0 : 1)));
    if (!minor.empty() && !major.empty() && leading_token(major) == major) {
        parsed.type = std::string(major) + "/" + std::string(minor);
    } else {
        parsed.is_broken = true; // RFC 2045 5.2: treat as plain text
    }
    auto found = read_parameters(
        value, {"charset", "boundary", "name", "start", "format", "delsp", "smime-type"});
    const auto charset = trim(found["charset"]);
    parsed.charset = std::string(charset.substr(0, charset.find_first_of(" \t")));
    parsed.name = std::move(found["name"]);
    parsed.smime_type = std::string(trim(found["smime-type"]));
    parsed.boundary = std::move(found["boundary"]);
    if (parsed.type == "multipart/related")
        parsed.start = std::string(trim(found["start"])); // once: every part compares it
    if (parsed.type == "text/plain") {
        parsed.is_flowed = equals_ignoring_ascii_case(found["format"], "flowed");
        parsed.deletes_space = equals_ignoring_ascii_case(found["delsp"], "yes");
    }
    return parsed;
}

disposition parse_disposition(const std::string& value)
{
    disposition parsed;
    parsed.kind = std::string(first_word(leading_word(value)));
    parsed.filename = std::move(read_parameters(value, {"filename"})["filename"]);
    return parsed;
}

std::optional<encoding> parse_encoding(std::string_view value)
{
    const auto named = leading_word(value);
    const auto word = letters_and_digits(first_word(named));
    if (word == "base64" || word == "xbase64")
        return encoding::base64;
    if (word == "quotedprintable" || word == "xquotedprintable")
        return encoding::quoted_printable;
    if (named.empty() || word == "7bit" || word == "8bit" || word == "binary")
        return encoding::identity;
    return std::nullopt;
}

} // namespace tempinbox::mime
