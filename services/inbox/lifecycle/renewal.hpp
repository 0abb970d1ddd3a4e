#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/metrics/registry.hpp"
#include "common/outbox/outbox.hpp"
#include "common/runtime/host.hpp"
#include "inbox/lifecycle/partition_maintenance.hpp"
#include "mailbox/renewal_repository.hpp"

#include <chrono>
#include <cstddef>
#include <set>

namespace tempinbox::inbox {

// Renews inboxes that are read, those that chose so. Reads are gathered for a few seconds, so that
// none waits for it. One in each process, any number of processes.
class renewal
{
public:
    renewal(runtime::host& host, mailbox::renewal_repository& repository,
            outbox::publisher& publisher, partition_maintenance& partitions);

    void start();
    awaitable<void> stop();

    // Also of inboxes that do not exist or are not renewed.
    void note_read(account_id account, inbox_id inbox);

private:
    awaitable<std::chrono::microseconds> renew();

    const clock_source& clock_;
    mailbox::renewal_repository& repository_;
    outbox::publisher& publisher_;
    partition_maintenance& partitions_;
    prometheus::Counter& renewed_;
    std::set<mailbox::inbox_use> reads_;
    async::periodic_task task_;
};

} // namespace tempinbox::inbox
