#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/time.hpp"
#include "common/rpc/server.hpp"
#include "rate-limit/block_pool.hpp"
#include "rate-limit/storage/quota_repository.hpp"
#include "rate-limit/usage_reconciler.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

namespace tempinbox::rate_limit {

// In one call.
inline constexpr int max_items = 10'000;

// RateLimitService on the RPC server: validates requests and answers them from the block pool and
// the stored days.
class quota_rpc
{
public:
    quota_rpc(runtime::host& host, block_pool& blocks, usage_reconciler& reconciler,
              quota_repository& repository, const clock_source& clock)
        : host_(host),
          blocks_(blocks),
          reconciler_(reconciler),
          repository_(repository),
          clock_(clock)
    {}

    void add_to(rpc::server& server);

    awaitable<result<ratelimit::v1::TakeQuotaResponse>>
    take(ratelimit::v1::TakeQuotaRequest request);
    awaitable<result<ratelimit::v1::ReturnBlockResponse>>
    give_back(ratelimit::v1::ReturnBlockRequest request);
    awaitable<result<ratelimit::v1::GetUsageResponse>>
    usage(ratelimit::v1::GetUsageRequest request);

private:
    runtime::host& host_;
    block_pool& blocks_;
    usage_reconciler& reconciler_;
    quota_repository& repository_;
    const clock_source& clock_;
};

} // namespace tempinbox::rate_limit
