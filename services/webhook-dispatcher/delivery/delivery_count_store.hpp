#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Counts the finished deliveries of an account's webhooks, successful or not, by the day of their
// event. Reads the index of each webhook one day at a time. Throws when PostgreSQL cannot be
// reached.
class delivery_count_store
{
public:
    explicit delivery_count_store(postgres::pool& db);

    // The last `days` days, today included, oldest first; days without deliveries are left out.
    awaitable<std::vector<daily_count>> list(account_id account, int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
