#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/retention_repository.hpp"

#include <chrono>

namespace tempinbox::inbox {

// Deletes the mail that live inboxes are to keep no longer, in small batches: what is too old, and
// the oldest of what is too much. One in each process, any number of processes.
class retention
{
public:
    // Looks every `interval`. Without bounds inboxes are not trimmed.
    retention(runtime::host& host, mailbox::retention_repository& repository,
              mailbox::inbox_bounds bounds, std::chrono::milliseconds interval);

    void start();
    awaitable<void> stop();

private:
    awaitable<std::chrono::microseconds> trim();
    awaitable<std::chrono::microseconds> delete_old();
    std::chrono::microseconds delay_after(const mailbox::retention_batch& batch) const;

    mailbox::retention_repository& repository_;
    mailbox::inbox_bounds bounds_;
    std::chrono::milliseconds interval_;
    prometheus::Counter& trimmed_;
    prometheus::Counter& aged_;
    async::periodic_task trim_task_;
    async::periodic_task age_task_;
};

} // namespace tempinbox::inbox
