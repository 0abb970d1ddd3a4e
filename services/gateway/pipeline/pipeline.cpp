#include "gateway/pipeline/pipeline.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr std::chrono::milliseconds recheck_after{100};

} // namespace

http::response too_many_requests(std::string_view reason, const rate_limit_headers& rate_limit,
                                 time_point now)
{
    auto response = http::error_response(429, reason);
    response.set("Retry-After", std::max<std::int64_t>(1, rate_limit.reset - to_unix_seconds(now)));
    return response;
}

bool took_long(time_point::duration duration)
{
    return duration >= recheck_after;
}

} // namespace tempinbox::gateway
