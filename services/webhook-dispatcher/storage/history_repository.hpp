#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/logged_delivery.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/core/daily_count.hpp"
#include "common/postgres/pool.hpp"

#include <optional>
#include <vector>

namespace tempinbox::webhooks {

// Of each delivery; more than ten attempts come from manual retries and replays.
inline constexpr int max_attempts_shown = 20;
// A page with a filter reads at most this many finished deliveries.
inline constexpr int max_rows_scanned = 2'000;

// Deliveries as their account sees them, and why emails went where they went; both are kept as long
// as their event. Throws when PostgreSQL cannot be reached.
class history_repository
{
public:
    explicit history_repository(postgres::pool& db);

    // `before`: only older events. Not_found if the account has no such webhook.
    awaitable<result<log_page>> list_deliveries(account_id account, webhook_id webhook,
                                                std::optional<delivery_status> status,
                                                std::optional<event_id> before, int limit);
    awaitable<result<logged_delivery>> find_delivery(account_id account, webhook_id webhook,
                                                     event_id event);
    // The finished deliveries of the account's webhooks, successful or not, by the day of their
    // event: the last `days` days, today included, oldest first; days without deliveries are left
    // out. Reads the index of each webhook one day at a time.
    awaitable<std::vector<daily_count>> count_deliveries(account_id account, int days);

    // The match of each rule, in the order of the rules. Absent if no rule was evaluated, or the
    // routing is not stored yet or no longer.
    awaitable<std::optional<std::vector<rule_match>>> find_routing(account_id account,
                                                                   event_id email);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
