#pragma once

#include "common/core/network.hpp"
#include "common/core/secret.hpp"
#include "common/http/message.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace tempinbox::gateway {

// Whether the browser uses TLS: to the gateway, or to a trusted proxy that reports it.
bool is_over_tls(const http::request& received, const std::vector<network>& trusted_proxies);

// The cookie that holds a session's token. Over TLS its name is `__Host-…`, which browsers accept
// from no other host, not even a sibling (RFC 6265bis 4.1.3.2).
class session_cookie
{
public:
    explicit session_cookie(bool is_secure) : is_secure_(is_secure) {}

    // Also absent if the cookie is given twice: it is unknown which one we set.
    std::optional<secret> find(const http::request& received) const;
    void set(http::response& response, const secret& token, std::chrono::seconds lifetime) const;
    void clear(http::response& response) const;

private:
    bool is_secure_;
};

// The token that a page must send with each change. It is derived from the session's token, so
// whoever knows it knows the session anyway.
std::string csrf_token_of(const secret& session_token);

} // namespace tempinbox::gateway
