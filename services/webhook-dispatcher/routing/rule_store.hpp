#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "common/rules/rules.hpp"

#include <string>
#include <vector>

namespace tempinbox::webhooks {

struct stored_rule
{
    rules::rule rule;
    time_point created_at;
};

// The columns of a rule in the order that read_rule reads them; the first is account_id, which it leaves out.
extern const char* const rule_columns;
stored_rule read_rule(const pqxx::row& row);

// Routing rules at rest. Answers not_found for what is absent or another account's; throws when PostgreSQL cannot be reached.
class rule_store
{
public:
    explicit rule_store(postgres::pool& db);

    // Permission_denied off plans with rules and past their number, not_found where its webhook is. A rule of the account with
    // that id is answered as it is.
    awaitable<result<stored_rule>> create(plans::account_state account, rules::rule wanted);
    // Newest first.
    awaitable<std::vector<stored_rule>> list(account_id account);
    awaitable<result<void>> remove(account_id account, rule_id id);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
