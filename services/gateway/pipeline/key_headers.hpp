#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"

#include <string>

namespace tempinbox::gateway {

// The well-formed API key of a request: in X-API-Key, or as `Authorization: Bearer` (RFC 6750),
// since many clients know only this one. Both are taken if they are the same; beside X-API-Key,
// Authorization of another scheme is a proxy's. A key in the address is refused, because proxies
// and browsers store addresses. The failure says what to do and does not show the key.
result<std::string> find_api_key(const http::request& received);

// What a key that does not exist is answered with.
failure invalid_api_key(const http::request& received);

} // namespace tempinbox::gateway
