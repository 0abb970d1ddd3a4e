#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/repeated_task.hpp"
#include "mailbox/partition_store.hpp"

#include <set>

namespace tempinbox::inbox {

// Makes the partitions of emails and bodies before they are needed and drops those that are past and empty.
class partition_upkeep
{
public:
    partition_upkeep(runtime::host& host, mailbox::partition_store& store);

    void start() { task_.start(); }
    awaitable<void> stop() { return task_.stop(); }

    // An inbox was made that ends then: its hour gets a partition soon, unless it has one.
    void note_end(time_point ends_at);

private:
    awaitable<std::chrono::microseconds> round();

    runtime::host& host_;
    mailbox::partition_store& store_;
    std::set<time_point> noted_hours_; // beyond those made for everyone
    runtime::repeated_task task_;
};

} // namespace tempinbox::inbox
