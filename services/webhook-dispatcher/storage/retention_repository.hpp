#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/inspection.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <vector>

namespace tempinbox::webhooks {

// Purges what has expired: the daily partitions of events, deliveries, attempts and feeds, replaced
// secrets, and the rows of deleted accounts. Safe when run by many processes at once. Throws
// postgres::timed_out if a partition is in use.
class retention_repository
{
public:
    explicit retention_repository(postgres::pool& db);

    // For events of the last `back` and the coming `ahead` days, and for what feeds record in
    // these.
    awaitable<void> make_partitions(int back, int ahead);
    awaitable<std::vector<postgres::partitioned_table>> partitions();
    // Drops one partition of a day more than `days` ago; false if there is none left.
    awaitable<bool> drop_partition_older_than(int days);
    // Drops one partition of the feeds whose end is 72 hours old; false if there is none left. The
    // floors must be above it.
    awaitable<bool> drop_feed_partition();
    // Moves the floors that lie in a partition that will be dropped, 500 at most; false if there
    // is none left.
    awaitable<bool> raise_feed_floors();
    // Ends the recording of feeds that were not read for seven days, 500 at most; false if there
    // was none.
    awaitable<bool> end_unread_feeds();
    // Purges replaced secrets that no longer sign.
    awaitable<void> purge_ended_secrets();
    // Purges a batch of the deliveries of accounts that were deleted over a minute ago; false if
    // none of these accounts is left.
    awaitable<bool> purge_deleted_accounts();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
