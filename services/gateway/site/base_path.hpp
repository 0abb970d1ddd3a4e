#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// A base path is where a proxy serves the gateway: `/some/path` of `https://host/some/path`; empty
// at the root of a host. It comes from the operator alone, never from a request.

// Turns `/some/path/` into `/some/path`, and `/` into an empty path. invalid_argument for a path
// that a browser or a proxy would change or read differently (`//`, `.`, `..`, anything but
// unreserved characters), and for one that begins with a path of the gateway's own.
result<std::string> parse_base_path(std::string_view given);

// Removes the base path from the target and path of a request, if the proxy left it there; other
// requests stay as they are.
void remove_base_path(http::request& received, std::string_view base_path);

// Puts the base path before the path in Location.
void add_base_path(http::response& response, std::string_view base_path);

} // namespace tempinbox::gateway
