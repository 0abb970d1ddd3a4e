#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "common/rules/rules.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

struct stored_rule
{
    rules::rule rule;
    time_point created_at;
};

// What a change sets; absent fields stay as they are.
struct rule_change
{
    std::optional<std::string> name;
    std::optional<webhook_id> webhook;
    std::optional<std::vector<rules::condition>> conditions;
    std::optional<bool> is_enabled;
};

// The columns of a rule in the order that read_rule reads them. It does not read the first,
// account_id.
extern const char* const rule_columns;
stored_rule read_rule(const pqxx::row& row);

// The failure for accounts whose plan has no rules.
failure no_rules_on(const plans::account_state& account, time_point now);

// The stored routing rules. Returns not_found for an absent rule or another account's; throws when
// PostgreSQL cannot be reached.
class rule_store
{
public:
    explicit rule_store(postgres::pool& db);

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

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
