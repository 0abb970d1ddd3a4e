#pragma once

#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "common/runtime/periodic_task.hpp"
#include "mailbox/partition_store.hpp"

#include <functional>
#include <set>

namespace tempinbox::inbox {

// Makes the partitions of emails and bodies before they are needed and drops those that are past:
// of emails once they are empty, of bodies with all that nobody needs any more. Waits for no lock
// that others would wait behind: where the tables are in use it tries a few times, then again
// minutes later. One a process, any number of processes.
class partition_maintenance
{
public:
    partition_maintenance(runtime::host& host, mailbox::partition_store& store);

    void start();
    awaitable<void> stop();

    // An inbox was made that ends then: its hour gets a partition soon, unless it has one.
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
    mailbox::partition_store& store_;
    prometheus::Counter& dropped_;
    std::set<time_point> noted_hours_; // beyond those made for everyone
    time_point next_drop_at_{};
    bool is_stopping_ = false;
    runtime::periodic_task task_;
};

} // namespace tempinbox::inbox
