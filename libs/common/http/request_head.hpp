#pragma once

#include "common/http/client.hpp"
#include "common/http/url.hpp"

#include <string>

namespace tempinbox::http {

// Request line and header section of an outgoing request. Refuses a method or header that could
// inject another: a line break in a value begins a new header. Only the client sets framing fields.
result<std::string> make_request_head(const client_request& outgoing, const target_url& url);

} // namespace tempinbox::http
