#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// A base path is where a proxy shows the gateway: `/some/path` of `https://host/some/path`; empty
// at the root of a host. It comes from the operator alone, never from a request.

// `/some/path/` becomes `/some/path`, `/` becomes empty. invalid_argument for what a browser or a
// proxy would change or read otherwise
// (`//`, `.`, `..`, anything but unreserved characters), and for what begins with a path of the
// gateway's own.
result<std::string> parse_base_path(std::string_view given);

// Off the target and the path of a request, where the proxy left it there; one that the proxy took
// off stays as it is.
void remove_base_path(http::request& received, std::string_view base_path);

// Before the path in Location.
void add_base_path(http::response& response, std::string_view base_path);

} // namespace tempinbox::gateway
