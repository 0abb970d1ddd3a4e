#pragma once

#include "common/http/message.hpp"
#include "gateway/api/routes.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::gateway {

// The checks that every pipeline makes once it knows the caller, in this order: path 404, method
// 405, size 413, headers 400, type 415, target 400. Fills in the route and its path parameters.
std::optional<http::response> check_request(http::request& received, const routes::match& target);

// Whether a header came twice. For one that is no list it is then unclear which of the two counts
// (RFC 9110 5.3).
bool is_given_twice(const http::request& received, std::string_view header);

// The response for an operation that throws; both write a log line.
http::response unavailable_response(const http::request& received, std::string_view error);
http::response internal_error_response(const http::request& received, std::string_view error);

} // namespace tempinbox::gateway
