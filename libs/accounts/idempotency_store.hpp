#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <optional>
#include <string>

namespace tempinbox::accounts {

// Which request is repeated: a key is an account's own, for one method and path.
struct idempotency_key
{
    account_id account;
    std::string operation_sha256; // of method and path
    std::string key;
};

// An answer at rest; the body is sealed.
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
    uuid object_id;           // go: the object to make, the same at every attempt
    bool is_first = false;    // go: no attempt was made before
    stored_response response; // replay
};

// What an account's requests with keys take, those under way and answered alike.
struct stored_key_count
{
    std::int64_t count = 0;
    std::optional<time_point> first_end; // when the oldest is forgotten
};

// Kept answers and when the last of them is forgotten.
struct stored_response_count
{
    std::int64_t count = 0;
    std::optional<time_point> last_end;
};

// Requests by their Idempotency-Key, kept 24 h. Throws when PostgreSQL cannot be reached.
class idempotency_store
{
public:
    static constexpr int batch_size = 1'000;

    explicit idempotency_store(postgres::pool& db);

    // Writes down the request and `object_id` before anything is made; a repeat is told what came
    // of the first. An attempt that was released, or began 30 s ago and has no answer, may be made
    // again with its object id. Without room nothing is written down that is not there yet.
    awaitable<idempotency_claim> claim(idempotency_key key, std::string request_sha256,
                                       uuid object_id, bool is_within_limit = true);

    // The attempt's answer, for repeats.
    awaitable<void> store_response(idempotency_key key, uuid object_id, stored_response response);

    // The attempt has no answer to keep: another may follow at once.
    awaitable<void> release(idempotency_key key, uuid object_id);

    // The attempt was the first and changed nothing: as if it had not been made.
    awaitable<void> drop(idempotency_key key, uuid object_id);

    awaitable<stored_key_count> count(account_id account);

    // Of the answers, those that another key of the keyring seals.
    awaitable<stored_response_count> count_sealed_otherwise(std::string key_id);

    // Up to batch_size of those that are too old; answers how many.
    awaitable<int> purge();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
