#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::postgres {

// Runs a prepared statement that takes an account and a number of days and returns rows (days since
// 1970-01-01, count). Throws when PostgreSQL cannot be reached.
awaitable<std::vector<daily_count>> list_daily_counts(pool& db, const statement& counting,
                                                      account_id account, int days);

} // namespace tempinbox::postgres
