#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <string>
#include <vector>

namespace tempinbox::mailbox {

// To be prepared before the functions below are called.
std::vector<postgres::statement> email_count_statements();

// How many emails an account got on each day; email_repository says what counts.
awaitable<std::vector<daily_count>> count_emails_by_day(postgres::pool& db, account_id account,
                                                        int days);
awaitable<std::vector<daily_count>>
count_tagged_emails_by_day(postgres::pool& db, account_id account, std::string tag, int days);

} // namespace tempinbox::mailbox
