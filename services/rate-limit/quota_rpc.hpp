#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/time.hpp"
#include "common/rpc/server.hpp"
#include "rate-limit/quota_store.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

namespace tempinbox::rate_limit {

// At most this many items a call.
inline constexpr int most_items = 10'000;

// RateLimitService on the RPC server: checks the items, takes them, and answers with day and reset. Around midnight, when this
// clock and PostgreSQL's disagree about the day, it looks again until they agree, at most for two seconds.
class quota_rpc
{
public:
    quota_rpc(quota_store& store, const clock_source& clock) : store_(store), clock_(clock) {}

    void add_to(rpc::server& server);

private:
    awaitable<result<ratelimit::v1::TakeQuotaResponse>> take(ratelimit::v1::TakeQuotaRequest request);

    quota_store& store_;
    const clock_source& clock_;
};

} // namespace tempinbox::rate_limit
