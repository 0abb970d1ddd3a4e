#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/endpoint.hpp"

#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "common/rules/rules.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::webhooks {

// First step of each transaction that changes an account's endpoints, rules or plan: takes the
// account's next config_version and thereby the lock that serializes such transactions.
void begin_config_change(pqxx::work& tx, account_id account);
// The same if the account has a configuration; otherwise makes none and returns false.
bool begin_config_change_if_any(pqxx::work& tx, account_id account);

// Stores the account's state from the request unless a newer version is stored already; returns the
// newer one.
plans::account_state update_account_state(pqxx::work& tx, const plans::account_state& given);

// The stored configuration of one account, endpoints and rules oldest first. At least as new as its
// version.
struct stored_config
{
    account_id account;
    std::int64_t version = 0;
    std::optional<plans::account_state> state;
    std::vector<endpoint> endpoints;
    std::vector<rules::rule> rules;
};

// The stored configurations, as the router reads them, and the plans behind them. Throws when
// PostgreSQL cannot be reached.
class config_store
{
public:
    explicit config_store(postgres::pool& db);

    // Accounts that never had an endpoint are absent.
    awaitable<std::unordered_map<account_id, std::int64_t>>
    versions(const std::vector<account_id>& accounts);
    awaitable<std::vector<stored_config>> load(const std::vector<account_id>& accounts);

    // From topic account.state. Deletes the endpoints and rules of a deleted account at once; its
    // deliveries are noted to be purged.
    awaitable<void> put_states(std::vector<plans::account_state> states);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
