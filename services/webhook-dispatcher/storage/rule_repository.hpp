#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/endpoint.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::webhooks {

// The failure for accounts whose plan has no rules.
failure no_rules_on(const plans::account_state& account, time_point now);

// The stored configuration of one account, endpoints and rules oldest first. At least as new as its
// version.
struct stored_config
{
    account_id account;
    std::int64_t version = 0;
    std::optional<plans::account_state> state;
    bool is_recorded = false; // its events go to its feed
    std::vector<endpoint> endpoints;
    std::vector<rules::rule> rules;
};

// The stored routing rules, and the configurations that they belong to, as the router reads them.
// Returns not_found for an absent rule or another account's; throws when PostgreSQL cannot be
// reached.
class rule_repository
{
public:
    explicit rule_repository(postgres::pool& db);

    // Permission_denied if the plan has no rules or their number is reached, not_found for the
    // webhook. If the account already has a rule with that id, returns it as it is.
    awaitable<result<stored_rule>> create(plans::account_state account, rules::rule requested);
    awaitable<result<stored_rule>> find(account_id account, rule_id id);
    // Not_found for the rule or its new webhook, permission_denied if the plan has no rules.
    awaitable<result<stored_rule>> update(plans::account_state account, rule_id id,
                                          rule_change change);
    // Newest first.
    awaitable<std::vector<stored_rule>> list(account_id account);
    awaitable<result<void>> remove(account_id account, rule_id id);

    // Accounts that never had an endpoint or a feed are absent.
    awaitable<std::unordered_map<account_id, std::int64_t>>
    find_versions(const std::vector<account_id>& accounts);
    awaitable<std::vector<stored_config>> load_configs(const std::vector<account_id>& accounts);

    // From topic account.state. Deletes the endpoints and rules of a deleted account at once and
    // ends its feed; its deliveries and events are noted to be purged.
    awaitable<void> put_states(std::vector<plans::account_state> states);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
