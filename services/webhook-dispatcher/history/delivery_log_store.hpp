#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/history/logged_delivery.hpp"

#include "common/postgres/pool.hpp"

#include <optional>

namespace tempinbox::webhooks {

// Of each delivery; more than ten attempts come from manual retries and replays.
inline constexpr int max_attempts_shown = 20;
// A page with a filter reads at most this many finished deliveries.
inline constexpr int max_rows_scanned = 2'000;

// Deliveries as their account sees them, kept as long as their event. Throws when PostgreSQL cannot
// be reached.
class delivery_log_store
{
public:
    explicit delivery_log_store(postgres::pool& db);

    // `before`: only older events. Not_found if the account has no such webhook.
    awaitable<result<log_page>> list(account_id account, webhook_id webhook,
                                     std::optional<delivery_status> status,
                                     std::optional<event_id> before, int limit);
    awaitable<result<logged_delivery>> find(account_id account, webhook_id webhook, event_id event);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
