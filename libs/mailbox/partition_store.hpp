#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <string>
#include <vector>

namespace tempinbox::mailbox {

// The partitions of emails (a day of their ids each) and of bodies (the hour in which their inboxes end). Mail without a
// partition waits in the default one, so being late loses nothing. Each change is a transaction of its own and short: what is
// locked too long is tried again later. Throws when PostgreSQL cannot be reached.
class partition_store
{
public:
    explicit partition_store(postgres::pool& db);

    // Today, the days after it.
    awaitable<void> ensure_email_days(int days_ahead);

    // The hours without partition of the next so many hours and of every hour in which a live inbox ends, nearest first.
    awaitable<std::vector<time_point>> missing_body_hours(int hours_ahead);
    awaitable<void> ensure_body_hour(time_point hour);

    // Partitions of past hours and days, oldest first, that may be dropped once they are empty.
    awaitable<std::vector<std::string>> past_partitions();
    // Whether it was empty and is gone.
    awaitable<bool> drop_if_empty(std::string partition);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
