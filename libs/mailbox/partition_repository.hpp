#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/inspection.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// A partition whose time is over. `hour` is set for bodies, absent for emails.
struct past_partition
{
    std::string name;
    std::optional<time_point> hour;
    bool is_overdue = false; // for bodies: should have been dropped six hours ago
};

enum class drop_status {
    dropped,
    absent, // another process has dropped it
    needed, // emails are left in it, or bodies that live inboxes need
    taken   // another process holds the partition lock
};

// Makes and drops the partitions of emails (one for each day of their ids) and of bodies (one for
// each hour in which their inboxes end); any number of processes may do so at once. Mail without a
// partition goes to the default one, so being late loses nothing. Each change is its own short
// transaction. It takes its exclusive locks with NOWAIT, since every other query would queue behind
// one that waits: while others use the tables (a backup does all the time it runs) changes throw
// postgres::timed_out; try again later. Throws if PostgreSQL cannot be reached.
class partition_repository
{
public:
    static constexpr int batch_size = 500;

    explicit partition_repository(postgres::pool& db) : db_(db) {}

    // Makes today's partition and those of the next `days_ahead` days.
    awaitable<void> ensure_email_days(int days_ahead);

    // The hours without partition among the next `hours_ahead` ones and those in which a live inbox
    // ends, nearest first.
    awaitable<std::vector<time_point>> missing_body_hours(int hours_ahead);
    awaitable<void> ensure_body_hour(time_point hour);

    awaitable<std::vector<postgres::partitioned_table>> partitions();

    // Oldest first of each kind: days once another day has passed, hours once another hour has.
    awaitable<std::vector<past_partition>> past_partitions();

    // Moves a batch of the bodies that live inboxes still need, since they were extended, out of
    // past hours. True: call it again.
    awaitable<bool> move_needed(time_point hour);

    // Drops emails only if empty; bodies with all that are left, once no live inbox needs one of
    // them.
    awaitable<drop_status> drop(past_partition past);

    // For bodies that cannot be dropped for long: deletes a batch of bodies with ids above `after`.
    // Returns the last id deleted; absent if there are no more, or deleting is not allowed at
    // present.
    awaitable<std::optional<body_id>> empty_some(past_partition past, std::optional<body_id> after);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
