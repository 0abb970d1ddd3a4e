#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/retention_store.hpp"
#include "webhook-dispatcher/delivery/wakeup.hpp"

#include "common/runtime/host.hpp"

namespace tempinbox::webhooks {

// Keeps partitions ready for the coming days and drops those past their time, each hour.
class retention
{
public:
    retention(runtime::host& host, retention_store& partitions, int days_kept);

    void start();
    awaitable<void> stop();

private:
    awaitable<void> run();
    awaitable<void> keep_up();

    runtime::host& host_;
    retention_store& partitions_;
    int days_kept_;
    wakeup is_due_;
    wakeup has_stopped_;
    bool is_stopping_ = false;
    bool is_running_ = false;
};

} // namespace tempinbox::webhooks
