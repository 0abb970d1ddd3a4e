#pragma once

#include "common/http/message.hpp"

#include <string>

namespace tempinbox::http {

// The client's X-Request-Id if it is 1 to 128 characters of [A-Za-z0-9._-], else a new one.
std::string choose_request_id(const request& received);

} // namespace tempinbox::http
