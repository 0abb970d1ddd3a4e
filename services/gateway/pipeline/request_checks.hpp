#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "gateway/routes/routes.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::gateway {

// The checks that every pipeline makes once it knows the caller, in this order: path 404, method
// 405, scope 403, size 413, headers 400, type 415, target 400. Fills in the route and its path
// parameters.
std::optional<http::response> check_request(http::request& received, const routes::match& target,
                                            const caller& who);

// Whether a header came twice. For one that is no list it is then unclear which of the two counts
// (RFC 9110 5.3).
bool is_given_twice(const http::request& received, std::string_view header);

// The operation's response. If it throws, 503 for a lost dependency or else 500, and a log line.
awaitable<http::response> respond(awaitable<http::response> operation,
                                  const http::request& received);

} // namespace tempinbox::gateway
