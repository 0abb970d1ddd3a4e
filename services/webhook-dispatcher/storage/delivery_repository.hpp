#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/email_deliveries.hpp"
#include "webhook-dispatcher/storage/logged_delivery.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/core/daily_count.hpp"
#include "common/core/list_order.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// Of each delivery; more than ten attempts come from manual retries and replays.
inline constexpr int max_attempts_shown = 20;
// A page with a filter reads at most this many finished deliveries.
inline constexpr int max_rows_scanned = 2'000;

// The log of deliveries as their account sees it, and why emails went where they went. It is kept
// as long as its events. Returns not_found for what is absent or another account's; throws when
// PostgreSQL cannot be reached.
class delivery_repository
{
public:
    explicit delivery_repository(postgres::pool& db);

    // In the order of their events, past that of `position`. Not_found if the account has no such
    // webhook.
    awaitable<result<log_page>> list(account_id account, webhook_id webhook,
                                     std::optional<delivery_status> status, list_order order,
                                     std::optional<event_id> position, int limit);
    awaitable<result<logged_delivery>> find(account_id account, webhook_id webhook, event_id event);
    // The finished deliveries of the account's webhooks, successful or not, by the day of their
    // event: the last `days` days, today included, oldest first; days without deliveries are left
    // out. Reads the index of each webhook one day at a time.
    awaitable<std::vector<daily_count>> count_by_day(account_id account, int days);

    // The match of each rule, in the order of the rules. Absent if no rule was evaluated, or the
    // routing is not stored yet or no longer.
    using routing = std::optional<std::vector<rule_match>>;
    // Of each email, in the given order; a damaged one is internal, alone.
    awaitable<std::vector<result<routing>>>
    find_routings(std::vector<std::pair<account_id, event_id>> emails);

    // What became of the email. Empty if nothing of it is stored, or it is another account's.
    awaitable<email_deliveries> find_email_deliveries(account_id account, event_id email);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
