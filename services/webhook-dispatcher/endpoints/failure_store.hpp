#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <vector>

namespace tempinbox::webhooks {

// Failed attempts to one webhook.
struct failure_count
{
    account_id account;
    webhook_id webhook;
    std::int64_t failures = 0;
    time_point first;
    time_point last;
};

struct failing_webhook
{
    account_id account;
    webhook_id webhook;
};

// Which webhooks only fail, and since when. Throws when PostgreSQL cannot be reached.
class failure_store
{
public:
    explicit failure_store(postgres::pool& db);

    awaitable<void> add(std::vector<failure_count> counts);
    // Those with at least 20 failed attempts over at least five days and no success in between.
    // After a success the count starts anew from there.
    awaitable<std::vector<failing_webhook>> find_failing();
    awaitable<void> clear(webhook_id webhook);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
