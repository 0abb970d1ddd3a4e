#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/endpoint.hpp"

#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// The columns of an endpoint in the order that read_endpoint reads them.
extern const char* const endpoint_columns;
endpoint read_endpoint(const pqxx::row& row);

failure no_such_webhook(webhook_id id);

// Where the next page of a list begins: after this endpoint, newest first.
struct endpoint_position
{
    time_point created_at;
    webhook_id id;
};

// What a change sets; absent fields stay as they are.
struct endpoint_change
{
    std::optional<std::string> url;
    std::optional<event_set> events;
    std::optional<std::string> description;
    std::optional<bool> is_enabled; // true also clears disabled_reason
};

// The stored endpoints. Returns not_found for an absent endpoint or another account's; throws when
// PostgreSQL cannot be reached.
class endpoint_store
{
public:
    explicit endpoint_store(postgres::pool& db);

    // Permission_denied when the plan's number is reached. If the account already has an endpoint
    // with that id, returns it as it is.
    awaitable<result<endpoint>> create(plans::account_state account, endpoint requested);
    awaitable<result<endpoint>> find(account_id account, webhook_id id);
    awaitable<std::vector<endpoint>> list(account_id account,
                                          std::optional<endpoint_position> after, int limit);
    awaitable<result<endpoint>> update(account_id account, webhook_id id, endpoint_change change);
    // Conflict, naming the rules, while rules name the endpoint. Deletes its waiting deliveries,
    // too.
    awaitable<result<void>> remove(account_id account, webhook_id id);
    // The service switches the endpoint off, not the account. What waits for it becomes skipped as
    // it comes due. With `renewed_at`: does nothing if the endpoint was switched on or given
    // another URL since.
    awaitable<void> disable(account_id account, webhook_id id, std::string reason,
                            std::optional<time_point> renewed_at = {});

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
