#include "gateway/access/session_cookie.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_token_length = 128;

std::string_view name_of(bool is_secure)
{
    return is_secure ? "__Host-tempinbox_session" : "tempinbox_session";
}

std::string attributes_of(bool is_secure)
{
    return std::string("; Path=/; HttpOnly; SameSite=Lax") + (is_secure ? "; Secure" : "");
}

// Collects the values of all cookies of this name in one field (RFC 6265 5.4).
void collect(std::string_view field, std::string_view name, std::vector<std::string>& values)
{
    for (const auto& pair : split_list(field, ';')) {
        const auto sign = pair.find('=');
        if (sign != std::string::npos && std::string_view(pair).substr(0, sign) == name)
            values.push_back(pair.substr(sign + 1));
    }
}

} // namespace

bool is_over_tls(const http::request& received, const std::vector<network>& trusted_proxies)
{
    if (received.is_tls)
        return true;
    const auto forwarded_proto = received.header("X-Forwarded-Proto");
    if (!forwarded_proto || !contains(trusted_proxies, received.peer))
        return false;
    // Each proxy appends to the right, so the first entry is what the browser used.
    const auto steps = split_list(*forwarded_proto);
    return !steps.empty() && equals_ignoring_ascii_case(steps.front(), "https");
}

std::optional<secret> session_cookie::find(const http::request& received) const
{
    std::vector<std::string> values;
    for (const auto& [header, content] : received.headers)
        if (equals_ignoring_ascii_case(header, "Cookie"))
            collect(content, name_of(is_secure_), values);
    if (values.size() != 1 || values[0].empty() || values[0].size() > max_token_length)
        return std::nullopt;
    return secret(values[0]);
}

void session_cookie::set(http::response& response, const secret& token,
                         std::chrono::seconds lifetime) const
{
    response.set("Set-Cookie", std::string(name_of(is_secure_)) + "=" + token.reveal() +
                                   attributes_of(is_secure_) +
                                   "; Max-Age=" + std::to_string(lifetime.count()));
}

void session_cookie::clear(http::response& response) const
{
    response.set("Set-Cookie", std::string(name_of(is_secure_)) + "=" + attributes_of(is_secure_) +
                                   "; Max-Age=0");
}

std::string csrf_token_of(const secret& session_token)
{
    return to_base64url(crypto::hmac_sha256(session_token.reveal(), "tempinbox csrf token"));
}

} // namespace tempinbox::gateway
