#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::webhooks {

// How many deliveries to an account's webhooks have ended, well or badly, by the day of their
// event: read from the index of each webhook, a day at a time. Throws when PostgreSQL cannot be
// reached.
class delivery_count_store
{
public:
    explicit delivery_count_store(postgres::pool& db);

    // The last `days`, today included, oldest first; days without any are left out.
    awaitable<std::vector<daily_count>> list(account_id account, int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
