#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "common/outbox/outbox.hpp"
#include "mailbox/purge_repository.hpp"

namespace tempinbox::inbox {

// Purges the mail of ended inboxes in small batches, later the inboxes themselves, and
// publishes that they are gone. One in each process, any number of processes.
class purge
{
public:
    // Looks for mail to purge every `interval`; purges an inbox `retention` after its end.
    purge(runtime::host& host, mailbox::purge_repository& repository, outbox::publisher& publisher,
          std::chrono::milliseconds interval, std::chrono::seconds retention);

    void start();
    awaitable<void> stop();

private:
    awaitable<std::chrono::microseconds> purge_mail();
    awaitable<std::chrono::microseconds> purge_inboxes();

    mailbox::purge_repository& repository_;
    outbox::publisher& publisher_;
    std::chrono::milliseconds interval_;
    std::chrono::seconds retention_;
    prometheus::Counter& emails_;
    prometheus::Counter& bodies_;
    async::periodic_task mail_task_;
    async::periodic_task inbox_task_;
};

} // namespace tempinbox::inbox
