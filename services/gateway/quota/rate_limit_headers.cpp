#include "gateway/quota/rate_limit_headers.hpp"

#include <algorithm>

namespace tempinbox::gateway {

void set_rate_limit_headers(http::response& response, const rate_limit_headers& rate_limit)
{
    response.set("X-RateLimit-Limit", rate_limit.limit);
    response.set("X-RateLimit-Remaining", rate_limit.remaining);
    response.set("X-RateLimit-Reset", rate_limit.reset);
}

namespace {

// An item of a list of structured fields (RFC 9651 3.1).
void add_item(std::string& list, std::string_view item)
{
    list.append(list.empty() ? "" : ", ").append(item);
}

} // namespace

void set_allowance_headers(http::response& response, const key_allowance_state& allowance,
                           const rate_limit_headers& day, time_point now)
{
    std::string policy, left;
    if (allowance.burst_per_second > 0)
        add_item(policy, "\"burst\";q=" + std::to_string(allowance.burst_per_second) + ";w=1");
    if (allowance.burst_per_second > 0 && allowance.burst_wait)
        add_item(left, "\"burst\";r=0;t=" + std::to_string(allowance.burst_wait->count()));
    if (allowance.requests_per_day > 0) {
        const auto seconds = std::max<std::int64_t>(0, day.reset - to_unix_seconds(now));
        add_item(policy, "\"day\";q=" + std::to_string(day.limit) + ";w=86400");
        add_item(left,
                 "\"day\";r=" + std::to_string(day.remaining) + ";t=" + std::to_string(seconds));
    }
    if (!policy.empty())
        response.set("RateLimit-Policy", policy);
    if (!left.empty())
        response.set("RateLimit", left);
}

void set_retry_after(http::response& response, const rate_limit_headers& rate_limit, time_point now)
{
    response.set("Retry-After", std::max<std::int64_t>(1, rate_limit.reset - to_unix_seconds(now)));
}

http::response too_many_requests(error_reason reason, std::string_view message,
                                 const rate_limit_headers& rate_limit, time_point now)
{
    auto response = http::error_response(reason, message);
    set_retry_after(response, rate_limit, now);
    return response;
}

void complete_response_without_account(http::response& response, time_point now)
{
    set_rate_limit_headers(response, rate_limit_headers(0, 0, next_midnight(now)));
    response.set("Cache-Control", "no-store");
}

} // namespace tempinbox::gateway
