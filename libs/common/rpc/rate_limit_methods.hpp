#pragma once

#include "common/rpc/method.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

// What rate-limit is asked for, as client and server both name it.
namespace tempinbox::rate_limit_methods {

inline constexpr rpc::method<ratelimit::v1::TakeQuotaRequest, ratelimit::v1::TakeQuotaResponse>
    take_quota{"tempinbox.ratelimit.v1.RateLimitService/TakeQuota"};
inline constexpr rpc::method<ratelimit::v1::ReturnBlockRequest, ratelimit::v1::ReturnBlockResponse>
    return_block{"tempinbox.ratelimit.v1.RateLimitService/ReturnBlock"};
inline constexpr rpc::method<ratelimit::v1::GetUsageRequest, ratelimit::v1::GetUsageResponse>
    get_usage{"tempinbox.ratelimit.v1.RateLimitService/GetUsage"};

} // namespace tempinbox::rate_limit_methods
