#pragma once

#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/server.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/host.hpp"
#include "common/runtime/repeated_task.hpp"
#include "rate-limit/quota_rpc.hpp"
#include "rate-limit/quota_store.hpp"
#include "rate-limit/settings.hpp"

namespace tempinbox::rate_limit {

// The daily quota over RPC, counted in schema `quota`.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);
    void start() override;
    awaitable<void> drain() override;

private:
    awaitable<std::chrono::microseconds> forget_old_days();

    runtime::host& host_;
    std::chrono::days kept_;
    admin::listener admin_;
    postgres::pool db_;
    quota_store quotas_;
    quota_rpc rpc_;
    runtime::repeated_task forgetting_;
    rpc::tokens tokens_;
    rpc::server server_;
};

} // namespace tempinbox::rate_limit
