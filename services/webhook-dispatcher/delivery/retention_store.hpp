#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>

namespace tempinbox::webhooks {

// What is past its time: the daily partitions of events, deliveries and attempts, replaced secrets,
// and what is left of deleted accounts. Safe when run by many processes at once. Throws
// postgres::timed_out where a partition is in use.
class retention_store
{
public:
    explicit retention_store(postgres::pool& db);

    // For events of the last `back` and the coming `ahead` days.
    awaitable<void> make_partitions(int back, int ahead);
    // One partition of a day more than `days` ago; false when there is none left.
    awaitable<bool> drop_partition_older_than(int days);
    // Replaced secrets that sign no more.
    awaitable<void> purge_ended_secrets();
    // One step towards forgetting the deliveries of accounts that were deleted a while ago; false
    // when nothing is left of them.
    awaitable<bool> purge_deleted_accounts();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
