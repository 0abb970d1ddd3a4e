#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/service_client.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

namespace tempinbox::gateway {

// Reads past usage from rate-limit. quota_client takes units.
class rate_limit_client
{
public:
    rate_limit_client(runtime::host& host, std::vector<host_port> replicas, rpc::tokens& tokens)
        : service_(host, "rate-limit", std::move(replicas), tokens)
    {}

    awaitable<result<ratelimit::v1::GetUsageResponse>> usage(ratelimit::v1::GetUsageRequest request)
    {
        return service_.call<ratelimit::v1::GetUsageResponse>(
            "tempinbox.ratelimit.v1.RateLimitService/GetUsage", std::move(request));
    }

private:
    service_client service_;
};

} // namespace tempinbox::gateway
