#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// A partition whose time is over: of bodies with its hour, else of emails.
struct past_partition
{
    std::string name;
    std::optional<time_point> hour;
    bool is_overdue = false; // of bodies: it should have been dropped six hours ago
};

enum class drop_status {
    dropped,
    absent, // another process dropped it
    needed, // emails are left, or bodies that live inboxes need
    taken   // another process is at the partitions
};

// The partitions of emails (a day of their ids each) and of bodies (the hour in which their inboxes
// end). Mail without a partition waits in the default one, so being late loses nothing. Each change
// is a transaction of its own and short. The exclusive locks it needs it has at once or not at all,
// since everybody else would wait behind one that waits: while others use the tables (a backup does
// for its whole time) changes throw postgres::timed_out and are tried again later. Throws when
// PostgreSQL cannot be reached.
class partition_store
{
public:
    static constexpr int batch_size = 500;

    explicit partition_store(postgres::pool& db);

    // Today, the days after it.
    awaitable<void> ensure_email_days(int days_ahead);

    // The hours without partition of the next so many hours and of every hour in which a live inbox
    // ends, nearest first.
    awaitable<std::vector<time_point>> missing_body_hours(int hours_ahead);
    awaitable<void> ensure_body_hour(time_point hour);

    // Oldest first of each kind: days once another day has passed, hours once another hour has.
    awaitable<std::vector<past_partition>> past_partitions();

    // Moves bodies out of past hours that live inboxes need, since they were extended: some of
    // them; true: go on.
    awaitable<bool> move_needed(time_point hour);

    // Emails only when empty; bodies with all that are left in it, once live inboxes need none of
    // them.
    awaitable<drop_status> drop(past_partition past);

    // Where bodies cannot be dropped for long: deletes some of them that come after that one in the
    // order of their ids. Answers the last; absent: there were no more, or it must not be now.
    awaitable<std::optional<body_id>> empty_some(past_partition past, std::optional<body_id> after);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
