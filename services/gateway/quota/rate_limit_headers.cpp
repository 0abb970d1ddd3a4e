#include "gateway/quota/rate_limit_headers.hpp"

#include <algorithm>

namespace tempinbox::gateway {

void set_rate_limit_headers(http::response& response, const rate_limit_headers& rate_limit)
{
    response.set("X-RateLimit-Limit", rate_limit.limit);
    response.set("X-RateLimit-Remaining", rate_limit.remaining);
    response.set("X-RateLimit-Reset", rate_limit.reset);
}

void set_retry_after(http::response& response, const rate_limit_headers& rate_limit, time_point now)
{
    response.set("Retry-After", std::max<std::int64_t>(1, rate_limit.reset - to_unix_seconds(now)));
}

http::response too_many_requests(std::string_view reason, const rate_limit_headers& rate_limit,
                                 time_point now)
{
    auto response = http::error_response(429, reason);
    set_retry_after(response, rate_limit, now);
    return response;
}

void complete_response_without_account(http::response& response, time_point now)
{
    set_rate_limit_headers(response, rate_limit_headers(0, 0, next_midnight(now)));
    response.set("Cache-Control", "no-store");
}

} // namespace tempinbox::gateway
