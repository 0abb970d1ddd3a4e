#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/routes/routes.hpp"

#include <functional>
#include <string_view>

namespace tempinbox::gateway {

// The checks that both pipelines make once it knows the caller, in this order: path 404, method
// 405, scope 403, size 413, headers 400, type 415, target 400. Fills in the route and its path
// parameters.
refusal check_request(http::request& received, const routes::match& target, const caller& who);

// Whether a header came twice. For one that is no list it is then unclear which of the two counts
// (RFC 9110 5.3).
bool is_given_twice(const http::request& received, std::string_view header);

// The operation's response. If it throws, 503 for a lost dependency or else 500, and a log line.
awaitable<http::response> respond(awaitable<http::response> operation,
                                  const http::request& received);

// The response to a read, once it may be given: counted in memory until it is sent, 503 without
// room. After a read that took long, mostly a long poll, the caller is checked again first, as of
// the moment that `who` then has: what was read is not for a key or session that ended meanwhile.
// The check usually costs a cache lookup.
awaitable<http::response> complete_read(http::response response, caller& who,
                                        const clock_source& clock, response_budget& memory,
                                        std::function<awaitable<refusal>()> check_again);

} // namespace tempinbox::gateway
