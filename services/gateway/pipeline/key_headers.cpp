#include "gateway/pipeline/key_headers.hpp"

#include "accounts/api_key.hpp"
#include "common/core/text.hpp"
#include "gateway/pipeline/request_checks.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

constexpr std::array<std::string_view, 8> key_names{
    "x-api-key", "api-key", "api_key", "apikey", "key", "token", "access_token", "authorization"};

failure refused(std::string_view reason)
{
    return failure{errc::unauthenticated, std::string(reason)};
}

bool is_key_name(std::string_view name)
{
    return std::any_of(key_names.begin(), key_names.end(), [name](std::string_view known) {
        return equals_ignoring_ascii_case(name, known);
    });
}

bool has_key_in_address(const http::request& received)
{
    return std::any_of(received.query.begin(), received.query.end(), [](const auto& parameter) {
        return is_key_name(parameter.first) || accounts::is_well_formed_api_key(parameter.second);
    });
}

// RFC 6750 2.1: the scheme in any case, one space or more, the token. Empty for another scheme.
std::string_view bearer_token(std::string_view header)
{
    constexpr std::string_view scheme = "bearer ";
    if (!equals_ignoring_ascii_case(header.substr(0, scheme.size()), scheme))
        return {};
    return trim(header.substr(scheme.size()));
}

constexpr std::string_view invalid_x_api_key = "X-API-Key is not a valid API key";
constexpr std::string_view invalid_bearer = "Authorization: Bearer is not a valid API key";

result<std::string> check_form(std::string_view key, std::string_view invalid)
{
    if (!accounts::is_well_formed_api_key(key))
        return refused(invalid);
    return std::string(key);
}

result<std::string> find_in_x_api_key(const http::request& received)
{
    const auto key = received.header("X-API-Key");
    if (!key)
        return refused("Header X-API-Key is missing");
    if (is_given_twice(received, "X-API-Key"))
        return refused("Header X-API-Key is given more than once");
    return check_form(*key, invalid_x_api_key);
}

result<std::string> find_in_either_header(const http::request& received)
{
    if (has_key_in_address(received))
        return refused("An API key in the address is not taken, because addresses are stored in "
                       "logs: send it in header X-API-Key or Authorization: Bearer, and revoke the "
                       "key that was in the address");
    const auto authorization = received.header("Authorization");
    if (!authorization)
        return received.header("X-API-Key")
                   ? find_in_x_api_key(received)
                   : refused("The API key is missing: send it in header X-API-Key or "
                             "Authorization: Bearer");
    if (received.header("X-API-Key") || is_given_twice(received, "Authorization"))
        return refused("The API key is given more than once: send one of the headers X-API-Key and "
                       "Authorization");
    const auto token = bearer_token(*authorization);
    if (token.empty())
        return refused("Header Authorization must be Bearer and the API key");
    return check_form(token, invalid_bearer);
}

} // namespace

result<std::string> find_api_key(const http::request& received, key_headers allowed)
{
    return allowed == key_headers::x_api_key ? find_in_x_api_key(received)
                                             : find_in_either_header(received);
}

std::string_view invalid_api_key(const http::request& received, key_headers allowed)
{
    return allowed == key_headers::x_api_key_or_bearer && received.header("Authorization")
               ? invalid_bearer
               : invalid_x_api_key;
}

} // namespace tempinbox::gateway
