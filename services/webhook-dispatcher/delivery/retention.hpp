#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/retention_store.hpp"
#include "webhook-dispatcher/manual_retry/replay_store.hpp"
#include "webhook-dispatcher/manual_retry/resend_store.hpp"

#include "common/runtime/host.hpp"

#include <optional>

namespace tempinbox::webhooks {

// Once an hour makes the partitions of the coming days and drops expired ones; also purges replays
// that ended as long ago, and deliveries of deleted accounts.
class retention
{
public:
    retention(runtime::host& host, retention_store& partitions, replay_store& replays,
              resend_store& resent, int retention_days);

    void start();
    awaitable<void> stop();

private:
    awaitable<void> run();
    awaitable<bool> maintain();
    awaitable<bool> make_partitions();
    awaitable<std::optional<bool>> drop_partition();

    runtime::host& host_;
    retention_store& partitions_;
    replay_store& replays_;
    resend_store& resent_;
    int retention_days_;
    async::reset_event is_due_;
    async::reset_event has_stopped_;
    bool is_stopping_ = false;
    bool is_running_ = false;
};

} // namespace tempinbox::webhooks
