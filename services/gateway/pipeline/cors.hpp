#pragma once

#include "common/http/message.hpp"

namespace tempinbox::gateway {

// Cross-origin use from a browser (Fetch Standard, 3.2): the API authenticates by a header of its
// own and never by cookies, so any origin may call it.
bool is_preflight(const http::request& received);
http::response preflight_response();
// Set on every response to a request that names its origin.
void allow_origin(const http::request& received, http::response& response);

} // namespace tempinbox::gateway
