#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// The well-formed API key of a request: in X-API-Key; at /mcp, whose clients often know only this
// one, in `Authorization: Bearer` too. Never in the address, which proxies and browsers store. The
// failure says what to do and does not show the key.
result<std::string> find_api_key(const http::request& received);

// What a key that does not exist is answered with.
std::string_view invalid_api_key(const http::request& received);

} // namespace tempinbox::gateway
