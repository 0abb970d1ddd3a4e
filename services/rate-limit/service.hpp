#pragma once

#include "common/admin/listener.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/otlp/exporter.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/server.hpp"
#include "common/rpc/tls.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/quota_rpc.hpp"
#include "rate-limit/reclaim_client.hpp"
#include "rate-limit/settings.hpp"
#include "rate-limit/storage/quota_repository.hpp"

namespace tempinbox::rate_limit {

// The daily quota over RPC: blocks of units from schema `quota`, spent in memory, given back at the
// end.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);
    void start() override;
    awaitable<void> drain() override;

private:
    awaitable<std::chrono::microseconds> purge_old_days();
    awaitable<std::chrono::microseconds> write_off_lost_blocks();
    awaitable<std::chrono::microseconds> sweep();

    runtime::host& host_;
    settings settings_;
    admin::listener admin_;
    otlp::exporter traces_;
    rpc::tokens tokens_;
    rpc::tls_contexts rpc_tls_;
    postgres::pool db_;
    quota_repository quotas_;
    reclaim_client others_;
    block_pool blocks_;
    usage_reconciler reconciler_;
    quota_rpc rpc_;
    async::periodic_task purging_;
    async::periodic_task writing_off_;
    async::periodic_task sweeping_;
    rpc::server server_;
    prometheus::Counter& units_lost_;
};

} // namespace tempinbox::rate_limit
