#pragma once

#include "common/http/message.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace tempinbox::gateway {

// X-RateLimit-Limit, -Remaining and -Reset.
void set_rate_limit_headers(http::response& response, const rate_limit_headers& rate_limit);

// What a key may send, and what it has left, as draft-ietf-httpapi-ratelimit-headers-10 says it.
struct key_allowance_state
{
    std::int64_t requests_per_day = 0;              // 0: no limit
    int burst_per_second = 0;                       // 0: no limit
    std::optional<std::chrono::seconds> burst_wait; // until the burst that is used up has room
};

// RateLimit-Policy, `"burst";q=50;w=1, "day";q=3000;w=86400`, and RateLimit, `"day";r=2990;t=1234`.
// What is left of the burst is said once there is nothing, with the seconds of Retry-After: a batch
// uses more than one second's. A header without a limit is left out.
void set_allowance_headers(http::response& response, const key_allowance_state& allowance,
                           const rate_limit_headers& day, time_point now);

// Retry-After: the seconds until these numbers begin anew, 1 at least.
void set_retry_after(http::response& response, const rate_limit_headers& rate_limit,
                     time_point now);
// 429 with Retry-After.
http::response too_many_requests(error_reason reason, std::string_view message,
                                 const rate_limit_headers& rate_limit, time_point now);

// X-RateLimit-* for a response that the HTTP server made by itself, before the account is known: 0
// / 0 / the next 00:00 UTC. Often not even the path is known, so every such response is treated as
// one of the API.
void complete_response_without_account(http::response& response, time_point now);

} // namespace tempinbox::gateway
