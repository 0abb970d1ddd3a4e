#include "webhook-dispatcher/delivery/delivery_count_store.hpp"

#include "common/postgres/daily_counts.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement count_deliveries{"deliveries_count", R"(
    SELECT date.day - date '1970-01-01', counted.deliveries
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date - n AS day FROM generate_series(0, $2::int - 1) AS n) AS date,
    LATERAL (SELECT count(*) AS deliveries FROM webhooks.endpoints AS e JOIN webhooks.deliveries AS d ON d.webhook_id = e.webhook_id
             WHERE e.account_id = $1::uuid
                 AND d.event_id >= webhooks.lowest_uuid(date.day::timestamp AT TIME ZONE 'UTC')
                 AND d.event_id < webhooks.lowest_uuid((date.day + 1)::timestamp AT TIME ZONE 'UTC')) AS counted
    WHERE counted.deliveries > 0 ORDER BY 1)"};

} // namespace

delivery_count_store::delivery_count_store(postgres::pool& db) : db_(db)
{
    db_.prepare(count_deliveries);
}

awaitable<std::vector<daily_count>> delivery_count_store::list(account_id account, int days)
{
    return postgres::list_daily_counts(db_, count_deliveries, account, days);
}

} // namespace tempinbox::webhooks
