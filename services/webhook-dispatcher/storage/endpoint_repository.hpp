#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/endpoint.hpp"

#include "common/core/list_order.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// The columns of an endpoint, as read_endpoint reads them.
extern const char* const endpoint_columns;
endpoint read_endpoint(const pqxx::row& row);

failure no_such_webhook(webhook_id id);

// Where the next page of a list begins: after this endpoint, in the order of the list.
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

// Where a sealed secret is stored: the present one of an endpoint, or one that a rotation replaced.
struct secret_position
{
    account_id account;
    webhook_id webhook;
    uuid replaced_by; // the rotation; nil for the present one
};

struct sealed_secret
{
    secret_position position;
    std::string sealed;
};

// A secret sealed anew; written only if `before` is still stored.
struct resealed_secret
{
    sealed_secret before;
    std::string sealed;
};

struct secret_count
{
    std::string key_id;
    std::int64_t secrets = 0;
};

// The account should be notified that the service switched off this webhook.
struct disabled_notice
{
    uuid id;
    account_id account;
    webhook_id webhook;
    std::string url;
    std::string reason;
};

// Failed attempts to one webhook.
struct failure_count
{
    account_id account;
    webhook_id webhook;
    std::int64_t failures = 0;
    time_point first;
    time_point last;
};

struct failing_webhook
{
    account_id account;
    webhook_id webhook;
};

// The stored endpoints with what belongs to them: their secrets, always sealed, which of them only
// fail, and whom to notify that one was switched off. Returns not_found for an absent endpoint or
// another account's; throws when PostgreSQL cannot be reached.
class endpoint_repository
{
public:
    explicit endpoint_repository(postgres::pool& db);

    // Permission_denied when the plan's number is reached. If the account already has an endpoint
    // with that id, returns it as it is.
    awaitable<result<endpoint>> create(plans::account_state account, endpoint requested);
    awaitable<result<endpoint>> find(account_id account, webhook_id id);
    awaitable<std::vector<endpoint>> list(account_id account, list_order order,
                                          std::optional<endpoint_position> after, int limit);
    awaitable<result<endpoint>> update(account_id account, webhook_id id, endpoint_change change);
    // Conflict, naming the rules, while rules name the endpoint. Deletes its waiting deliveries,
    // too.
    awaitable<result<void>> remove(account_id account, webhook_id id);
    // The service switches the endpoint off, not the account, and there is a notice of it. What
    // waits for it becomes skipped as it comes due. With `renewed_at`: does nothing if the endpoint
    // was switched on or given another URL since.
    awaitable<void> disable(account_id account, webhook_id id, std::string reason,
                            std::optional<time_point> renewed_at = {});

    // Replaces the present secret, which signs for another day. Repeating a rotation changes
    // nothing. Not_found for the endpoint; conflict if too many secrets sign already.
    awaitable<result<endpoint>> rotate_secret(account_id account, webhook_id id, uuid rotation,
                                              std::string sealed);
    // Grouped by the key that seals them.
    awaitable<std::vector<secret_count>> count_secrets();
    // Secrets sealed with other keys, ordered by position, after the given one.
    awaitable<std::vector<sealed_secret>> find_sealed_otherwise(std::string key_id,
                                                                secret_position after, int limit);
    // Returns how many were written: one that changed meanwhile is left as it is.
    awaitable<int> reseal(std::vector<resealed_secret> secrets);

    // Pending notices, the longest pending first, none twice within five minutes. Drops a notice
    // that nobody claimed for a day. Switching the webhook on or deleting it ends its notice.
    awaitable<std::vector<disabled_notice>> claim_notices(int limit);
    awaitable<void> settle_notice(account_id account, webhook_id webhook, uuid notice);

    awaitable<void> add_failures(std::vector<failure_count> counts);
    // Those with at least 20 failed attempts over at least five days and no success in between.
    // After a success the count starts anew from there.
    awaitable<std::vector<failing_webhook>> find_failing();
    awaitable<void> clear_failures(account_id account, webhook_id webhook);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
