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

// Where a page of a list goes on: after this endpoint, newest first.
struct endpoint_position
{
    time_point created_at;
    webhook_id id;
};

// What a change sets; the rest stays as it is.
struct endpoint_change
{
    std::optional<std::string> url;
    std::optional<event_set> events;
    std::optional<std::string> description;
    std::optional<bool> is_enabled; // true also forgets why it was disabled
};

// Endpoints at rest. Answers not_found for what is absent or another account's; throws when
// PostgreSQL cannot be reached.
class endpoint_store
{
public:
    explicit endpoint_store(postgres::pool& db);

    // Permission_denied when the plan's number is reached. An endpoint of the account with that id
    // is answered as it is.
    awaitable<result<endpoint>> create(plans::account_state account, endpoint requested);
    awaitable<result<endpoint>> find(account_id account, webhook_id id);
    awaitable<std::vector<endpoint>> list(account_id account,
                                          std::optional<endpoint_position> after, int limit);
    awaitable<result<endpoint>> update(account_id account, webhook_id id, endpoint_change change);
    // Conflict, naming the rules, while rules name it. Its waiting deliveries go with it.
    awaitable<result<void>> remove(account_id account, webhook_id id);
    // By the service, not the account. What waits for it becomes skipped as it comes due. With
    // `renewed_at`: unless the endpoint was switched on or given another URL since.
    awaitable<void> disable(account_id account, webhook_id id, std::string reason,
                            std::optional<time_point> renewed_at = {});

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
