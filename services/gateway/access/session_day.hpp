#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/quota/quota_client.hpp"

namespace tempinbox::gateway {

// Counts what an account's sessions send against a day of their own, so that nothing the page does
// counts against the day of the API.
class session_day
{
public:
    // 0 requests a day: no limit, and nothing is counted. `started`: of gateways with different
    // limits the one that started last decides.
    session_day(quota_client& quota, std::int64_t requests_a_day, time_point started);

    awaitable<quota_decision> take(account_id account);

private:
    quota_client& quota_;
    std::int64_t requests_a_day_;
    std::int64_t version_;
};

} // namespace tempinbox::gateway
