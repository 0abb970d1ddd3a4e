#pragma once

#include "common/http/message.hpp"
#include "gateway/api/routes.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::gateway {

// What every pipeline checks once it knows who asks, in this order: path 404, method 405, size 413,
// headers 400, type 415, target 400. Fills in the route and the parameters of its path.
std::optional<http::response> check_request(http::request& received, const routes::match& target);

// RFC 9110 5.3: of a header that is no list, which of two would count is anybody's guess.
bool is_given_twice(const http::request& received, std::string_view header);

// What an operation that throws is answered, and its line in the log.
http::response unavailable_response(const http::request& received, std::string_view error);
http::response internal_error_response(const http::request& received, std::string_view error);

} // namespace tempinbox::gateway
