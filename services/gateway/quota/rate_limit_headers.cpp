#include "gateway/quota/rate_limit_headers.hpp"

namespace tempinbox::gateway {

void set_rate_limit_headers(http::response& response, const rate_limit_headers& rate_limit)
{
    response.set("X-RateLimit-Limit", rate_limit.limit);
    response.set("X-RateLimit-Remaining", rate_limit.remaining);
    response.set("X-RateLimit-Reset", rate_limit.reset);
}

void complete_response_without_account(http::response& response, time_point now)
{
    set_rate_limit_headers(response, rate_limit_headers(0, 0, next_midnight(now)));
    response.set("Cache-Control", "no-store");
}

} // namespace tempinbox::gateway
