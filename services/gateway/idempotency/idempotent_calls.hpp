#pragma once

#include "accounts/idempotency_repository.hpp"
#include "common/async/batcher.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/master_keys.hpp"
#include "gateway/idempotency/stored_key_limit.hpp"
#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway {

// Whether the request has an Idempotency-Key that its operation takes.
bool takes_idempotency_key(const http::request& received, const route& operation);

// Handles POST requests with an Idempotency-Key. Whether the caller may make the request was
// checked before, also for a replay. The first request is handled by its operation, which gets from
// here the id of the object it creates. The same request again gets the stored response, marked as
// replayed; a different request with the key gets its own 400, or 422. The id is stored before the
// operation is called, so an attempt after a crash creates the same object. Stored responses are
// sealed, because some hold secrets. Only 2xx is stored; a first attempt that was refused leaves
// nothing behind. If an account has its maximum of keys stored, a new key gets 429: no request is
// ever carried out without storing its key.
class idempotent_calls
{
public:
    // `max_stored`: keys of an account stored at a time; 0: no limit.
    idempotent_calls(runtime::host& host, accounts::idempotency_repository& store,
                     runtime::master_key_settings keys, std::int64_t max_stored);

    // Starts the purge of keys past their TTL.
    void start() { purge_task_.start(); }
    awaitable<void> stop() { return purge_task_.stop(); }

    // The request, caller and operation outlive the awaitable. Throws dependency_error when
    // PostgreSQL cannot be reached.
    awaitable<http::response> handle(http::request& received, caller& who, const route& operation);

private:
    struct attempt;
    struct account_of
    {
        template <class Request>
        account_id operator()(const Request& request) const
        {
            return request.key.account;
        }
    };
    struct body_bytes
    {
        std::size_t operator()(const accounts::response_of_attempt& attempt) const
        {
            return attempt.response.sealed_body.size();
        }
    };

    awaitable<accounts::idempotency_claim> claim(const accounts::idempotency_key& key,
                                                 std::string request_sha256);
    http::response refuse_new(const caller& who) const;
    awaitable<void> finish(const attempt& made, const http::response& response);
    awaitable<void> store(accounts::response_of_attempt finished);
    static awaitable<http::response> refuse_other(http::request& received, const caller& who,
                                                  const route& operation);
    awaitable<http::response> call(http::request& received, const caller& who,
                                   const api_handler& handle, attempt made);
    http::response replay(const accounts::idempotency_key& key,
                          const accounts::stored_response& stored) const;
    awaitable<std::chrono::microseconds> purge();

    accounts::idempotency_repository& store_;
    runtime::master_keys keys_;
    stored_key_limit limit_;
    // One statement for the requests that come while one is under way.
    async::batcher<accounts::claim_request, result<accounts::idempotency_claim>,
                   async::unit_item_weight, account_of>
        claims_;
    async::batcher<accounts::response_of_attempt, result<void>, body_bytes, account_of> responses_;
    async::periodic_task purge_task_;
};

} // namespace tempinbox::gateway
