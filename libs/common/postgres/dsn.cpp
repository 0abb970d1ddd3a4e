#include "common/postgres/dsn.hpp"

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
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
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

} // namespace

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
