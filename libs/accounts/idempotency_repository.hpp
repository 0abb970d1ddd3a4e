#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::accounts {

// Identifies a request: a key belongs to one account, method and path; where the API key has
// responses of its own, to this key as well.
struct idempotency_key
{
    account_id account;
    std::string operation_sha256; // of method, path and, if it counts, the API key
    std::string key;
};

// A stored response; its body is sealed.
struct stored_response
{
    int status = 0;
    std::string location; // empty: none
    std::string content_type;
    std::string sealed_body;
};

// What a request with a key may do.
struct idempotency_claim
{
    enum class outcome { proceed, replay, other_request, in_progress, limit_reached };
    outcome what = outcome::in_progress;
    uuid object_id;           // proceed: the object to create, the same at every attempt
    bool is_first = false;    // proceed: no earlier attempt was made
    stored_response response; // replay
};

// A request that asks what it may do.
struct claim_request
{
    idempotency_key key;
    std::string request_sha256;
    uuid object_id; // of the object to create
    bool is_within_limit = true;
};

// The response of an attempt.
struct response_of_attempt
{
    idempotency_key key;
    uuid object_id;
    stored_response response;
};

// The keys stored for an account's requests, both in progress and answered.
struct stored_key_count
{
    std::int64_t count = 0;
    std::optional<time_point> first_end; // when the oldest expires
};

// The number of stored responses, and when the last of them expires.
struct stored_response_count
{
    std::int64_t count = 0;
    std::optional<time_point> last_end;
};

// Requests by their Idempotency-Key, kept for a TTL from their first attempt. Throws when
// PostgreSQL cannot be reached.
class idempotency_repository
{
public:
    static constexpr int batch_size = 1'000;

    static constexpr std::chrono::hours standard_ttl{24};

    explicit idempotency_repository(postgres::pool& db,
                                    std::chrono::milliseconds ttl = standard_ttl);

    // Records the request and `object_id` before anything is created; a repeat gets the outcome of
    // the first. An attempt that was released, or that began 30 s ago and has no response, may be
    // made again with its object id. Unless `is_within_limit`, no new key is recorded.
    awaitable<idempotency_claim> claim(idempotency_key key, std::string request_sha256,
                                       uuid object_id, bool is_within_limit = true);

    // The same for many requests in one transaction, in the given order; what PostgreSQL refuses of
    // one, or whose row is held for long, fails alone: `unavailable` or `internal`.
    awaitable<std::vector<result<idempotency_claim>>>
    claim_all(std::vector<claim_request> requests);

    // Stores the attempt's response for repeats; of many, one fails alone as above.
    awaitable<void> store_response(idempotency_key key, uuid object_id, stored_response response);
    awaitable<std::vector<result<void>>>
    store_responses(std::vector<response_of_attempt> responses);

    // The attempt has no response to store: another may follow at once.
    awaitable<void> release(idempotency_key key, uuid object_id);

    // The attempt was the first and changed nothing: deletes the key, as if it had not been made.
    awaitable<void> drop(idempotency_key key, uuid object_id);

    awaitable<stored_key_count> count(account_id account);

    // Counts the stored responses sealed with another key of the keyring than `key_id`.
    awaitable<stored_response_count> count_sealed_otherwise(std::string key_id);

    // Purges up to batch_size expired keys; returns how many.
    awaitable<int> purge();

private:
    postgres::pool& db_;
    double ttl_seconds_;
};

} // namespace tempinbox::accounts
