#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>

namespace tempinbox::webhooks {

// What is past its time: the daily partitions of events, deliveries and attempts, and replaced secrets. Safe when run by many
// processes at once.
class retention_store
{
public:
    explicit retention_store(postgres::pool& db);

    // For events of the last `back` and the coming `ahead` days.
    awaitable<void> make_partitions(int back, int ahead);
    // One partition of a day more than `days` ago; false when there is none left.
    awaitable<bool> drop_partition_older_than(int days);
    // Replaced secrets that sign no more.
    awaitable<void> forget_ended_secrets();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
