#pragma once

#include "common/async/reset_event.hpp"
#include "common/async/task_metrics.hpp"
#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/manual_delivery_repository.hpp"
#include "webhook-dispatcher/storage/replay_repository.hpp"
#include "webhook-dispatcher/storage/retention_repository.hpp"

#include "common/runtime/host.hpp"

#include <functional>
#include <optional>

namespace tempinbox::webhooks {

// Once an hour makes the partitions of the coming days and drops expired ones; also purges replays
// that ended as long ago, and deliveries of deleted accounts, and ends feeds that nobody reads.
class retention
{
public:
    retention(runtime::host& host, retention_repository& partitions, replay_repository& replays,
              manual_delivery_repository& manual_deliveries, int retention_days);

    void start();
    awaitable<void> stop();

private:
    awaitable<void> run();
    awaitable<bool> maintain();
    awaitable<bool> make_partitions();
    awaitable<std::optional<bool>> drop_partition(std::function<awaitable<bool>()> drop_one);

    runtime::host& host_;
    async::task_metrics task_;
    retention_repository& partitions_;
    replay_repository& replays_;
    manual_delivery_repository& manual_deliveries_;
    int retention_days_;
    async::reset_event is_due_;
    async::reset_event has_stopped_;
    bool is_stopping_ = false;
    bool is_running_ = false;
};

} // namespace tempinbox::webhooks
