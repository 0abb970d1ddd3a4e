#pragma once

#include "common/core/errors.hpp"

#include <string_view>

namespace tempinbox::rpc {

// The Connect protocol's error codes (connectrpc.com/docs/protocol, "Error codes") and the one
// table errc ↔ Connect code ↔ HTTP status.
std::string_view connect_code(errc code);
errc code_from_connect(std::string_view connect_code);
unsigned connect_http_status(errc code);

} // namespace tempinbox::rpc
