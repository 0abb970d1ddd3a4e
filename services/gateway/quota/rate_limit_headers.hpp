#pragma once

#include "common/http/message.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

#include <string_view>

namespace tempinbox::gateway {

// X-RateLimit-Limit, -Remaining and -Reset.
void set_rate_limit_headers(http::response& response, const rate_limit_headers& rate_limit);

// Retry-After: the seconds until these numbers begin anew, 1 at least.
void set_retry_after(http::response& response, const rate_limit_headers& rate_limit,
                     time_point now);
// 429 with Retry-After.
http::response too_many_requests(std::string_view reason, const rate_limit_headers& rate_limit,
                                 time_point now);

// X-RateLimit-* for a response that the HTTP server made by itself, before the account is known: 0
// / 0 / the next 00:00 UTC. Often not even the path is known, so every such response is treated as
// one of the API.
void complete_response_without_account(http::response& response, time_point now);

} // namespace tempinbox::gateway
