#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/endpoint.hpp"

#include "common/postgres/pool.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

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

// The endpoints' stored secrets, always sealed. Throws when PostgreSQL cannot be reached.
class secret_store
{
public:
    explicit secret_store(postgres::pool& db);

    // Replaces the present secret, which signs for another day. Repeating a rotation changes
    // nothing. Not_found for the endpoint; conflict if too many secrets sign already.
    awaitable<result<endpoint>> rotate(account_id account, webhook_id id, uuid rotation,
                                       std::string sealed);

    // Grouped by the key that seals them.
    awaitable<std::vector<secret_count>> count();
    // Secrets sealed with other keys, ordered by position, after the given one.
    awaitable<std::vector<sealed_secret>> find_sealed_otherwise(std::string key_id,
                                                                secret_position after, int limit);
    // Returns how many were written: one that changed meanwhile is left as it is.
    awaitable<int> reseal(std::vector<resealed_secret> secrets);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
