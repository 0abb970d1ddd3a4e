#include "common/postgres/dsn.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace tempinbox::postgres {
namespace {

bool is_uri(std::string_view dsn)
{
    return dsn.starts_with("postgresql://") || dsn.starts_with("postgres://");
}

std::string percent_encoded(std::string_view text)
{
    constexpr char hex[] = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const bool is_plain = is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
        if (is_plain) {
            encoded += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            encoded += {'%', hex[byte >> 4], hex[byte & 15]};
        }
    }
    return encoded;
}

// PostgreSQL documentation 34.1.1.1: values in single quotes, backslash before quote and backslash.
std::string keyword_value(std::string_view name, std::string_view value)
{
    std::string text = std::string(name) + "='";
    for (const char c : value) {
        if (c == '\'' || c == '\\')
            text += '\\';
        text += c;
    }
    return text + "'";
}

std::string query_value(std::string_view name, std::string_view value)
{
    return std::string(name) + "=" + percent_encoded(value);
}

struct options_deleter
{
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

// libpq looks at ports only when it connects, and then cites them; a password with a slash or a
// colon ends up there.
bool is_valid_port(std::string_view text)
{
    int port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size() && port >= 1 && port <= 65'535;
}

bool is_valid_option(std::string_view name, std::string_view value)
{
    // What follows the first of two @, the rest of a password.
    if (name == "host" || name == "hostaddr")
        return value.find('@') == std::string_view::npos;
    if (name != "port")
        return true;
    const auto ports = split_list(std::string(value), ',');
    return std::all_of(ports.begin(), ports.end(), is_valid_port);
}

} // namespace

bool is_valid_dsn(const std::string& dsn)
{
    if (dsn.find_first_not_of(" \t") == std::string::npos || dsn.find('\0') != std::string::npos)
        return false;
    const std::unique_ptr<PQconninfoOption, options_deleter> options(
        PQconninfoParse(dsn.c_str(), nullptr));
    if (!options)
        return false;
    for (const auto* option = options.get(); option->keyword != nullptr; ++option)
        if (option->val != nullptr && !is_valid_option(option->keyword, option->val))
            return false;
    return true;
}

std::string with_parameter(std::string_view dsn, std::string_view name, std::string_view value)
{
    if (!is_uri(dsn))
        return std::string(dsn) + " " + keyword_value(name, value);
    return std::string(dsn) + (dsn.find('?') == std::string_view::npos ? "?" : "&") +
           query_value(name, value);
}

std::string with_default(std::string_view dsn, std::string_view name, std::string_view value)
{
    if (!is_uri(dsn))
        return keyword_value(name, value) + " " + std::string(dsn);
    const auto query = dsn.find('?');
    if (query == std::string_view::npos)
        return with_parameter(dsn, name, value);
    return std::string(dsn.substr(0, query + 1)) + query_value(name, value) + "&" +
           std::string(dsn.substr(query + 1));
}

} // namespace tempinbox::postgres
