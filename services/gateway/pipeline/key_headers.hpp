#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"
#include "gateway/routes/routes.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// The well-formed API key of a request, in one of the headers that its path takes one in: in
// X-API-Key; where the path says so, in `Authorization: Bearer` too, since some clients know only
// this one. There a key in the address is refused, because proxies and browsers store addresses.
// The failure says what to do and does not show the key.
result<std::string> find_api_key(const http::request& received, key_headers allowed);

// What a key that does not exist is answered with.
std::string_view invalid_api_key(const http::request& received, key_headers allowed);

} // namespace tempinbox::gateway
