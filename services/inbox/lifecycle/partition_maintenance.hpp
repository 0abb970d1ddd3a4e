#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "mailbox/partition_repository.hpp"

#include <functional>
#include <set>

namespace tempinbox::inbox {

// Creates the partitions of emails and bodies ahead of time and drops past ones: emails once empty,
// bodies with all that nobody needs any more. It never waits for a lock that others would queue
// behind: while the tables are in use it retries a few times, then again minutes later. One in each
// process, any number of processes.
class partition_maintenance
{
public:
    partition_maintenance(runtime::host& host, mailbox::partition_repository& repository);

    void start();
    awaitable<void> stop();

    // An inbox was created that ends at `ends_at`: if that hour has no partition it gets one soon.
    void note_end(time_point ends_at);

private:
    awaitable<std::chrono::microseconds> tick();
    awaitable<bool> make_ahead();
    awaitable<void> drop();
    awaitable<bool> drop_all();
    awaitable<void> drop_one(const mailbox::past_partition& past, mailbox::drop_status& status);
    awaitable<void> empty(mailbox::past_partition overdue);
    awaitable<bool> retry(std::function<awaitable<void>()> change);

    runtime::host& host_;
    mailbox::partition_repository& repository_;
    prometheus::Counter& dropped_;
    std::set<time_point> noted_hours_; // beyond hours_ahead, in which an inbox ends
    time_point next_drop_at_{};
    bool is_stopping_ = false;
    async::periodic_task task_;
};

} // namespace tempinbox::inbox
