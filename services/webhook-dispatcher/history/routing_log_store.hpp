#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/routing/account_config.hpp"

#include "common/postgres/pool.hpp"

#include <optional>
#include <vector>

namespace tempinbox::webhooks {

// Why emails went where they went, kept as long as deliveries. Throws when PostgreSQL cannot be
// reached.
class routing_log_store
{
public:
    explicit routing_log_store(postgres::pool& db);

    // The match of each rule, in the order of the rules. Absent if no rule was evaluated, or the
    // routing is not stored yet or no longer.
    awaitable<std::optional<std::vector<rule_match>>> find(account_id account, event_id email);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
