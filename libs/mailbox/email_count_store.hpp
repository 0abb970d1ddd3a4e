#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <vector>

namespace tempinbox::mailbox {

// The emails of one UTC day.
struct email_count
{
    std::chrono::sys_days day;
    std::int64_t emails = 0;

    email_count(std::chrono::sys_days date, std::int64_t number) : day(date), emails(number) {}
};

// How many emails an account got a day: those still there by the index, those deleted from their count. Throws when PostgreSQL
// cannot be reached.
class email_count_store
{
public:
    explicit email_count_store(postgres::pool& db);

    // The last `days`, today included, oldest first; days without any are left out.
    awaitable<std::vector<email_count>> list(account_id account, int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
