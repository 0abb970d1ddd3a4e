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

failure refused(error_reason reason, std::string_view sentence)
{
    return failure{errc::unauthenticated, std::string(sentence), reason};
}

bool is_key_name(std::string_view name)
{
    return std::any_of(key_names.begin(), key_names.end(), [name](std::string_view known) {
        return equals_ignoring_ascii_case(name, known);
    });
}

// Under a name of its own, or of any parameter: a filter may be pasted into the wrong field.
bool has_key_in_url(const http::request& received)
{
    return std::any_of(received.query.begin(), received.query.end(), [](const auto& parameter) {
        return accounts::is_well_formed_api_key(parameter.second);
    });
}

bool seems_to_have_key_in_url(const http::request& received)
{
    return std::any_of(received.query.begin(), received.query.end(),
                       [](const auto& parameter) { return is_key_name(parameter.first); });
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
        return refused(error_reason::key_invalid, invalid);
    return std::string(key);
}

failure refuse_address()
{
    return refused(error_reason::key_in_url,
                   "An API key in the address is not taken, because addresses are stored in logs: "
                   "send it in header X-API-Key or Authorization: Bearer, and revoke the key that "
                   "was in the address");
}

} // namespace

result<std::string> find_api_key(const http::request& received)
{
    if (has_key_in_url(received))
        return refuse_address();
    const auto key = received.header("X-API-Key");
    const auto authorization = received.header("Authorization");
    const auto token = bearer_token(authorization.value_or(std::string_view()));
    if (key && is_given_twice(received, "X-API-Key"))
        return refused(error_reason::key_conflict, "Header X-API-Key is given more than once");
    if (!token.empty() && is_given_twice(received, "Authorization"))
        return refused(error_reason::key_conflict, "Header Authorization is given more than once");
    if (key && !token.empty() && *key != token)
        return refused(error_reason::key_conflict,
                       "X-API-Key and Authorization: Bearer are two different API keys: send one");
    if (key)
        return check_form(*key, invalid_x_api_key);
    if (!token.empty())
        return check_form(token, invalid_bearer);
    if (seems_to_have_key_in_url(received))
        return refuse_address();
    if (authorization)
        return refused(error_reason::key_missing,
                       "Header Authorization must be Bearer and the API key");
    return refused(error_reason::key_missing, "Header X-API-Key is missing; the key may stand in "
                                              "Authorization: Bearer instead");
}

failure invalid_api_key(const http::request& received)
{
    return refused(error_reason::key_invalid,
                   received.header("X-API-Key") ? invalid_x_api_key : invalid_bearer);
}

} // namespace tempinbox::gateway
