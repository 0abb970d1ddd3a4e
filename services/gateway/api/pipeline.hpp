#pragma once

#include "accounts/key_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "gateway/api/response_budget.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// The functions that the pipeline calls.
struct pipeline_sources
{
    // Throws dependency_error when the key cannot be looked up.
    std::function<awaitable<result<key_result>>(std::string digest, lookups allowed)> find_key;
    std::function<awaitable<quota_decision>(const plans::account_state&)> take_quota;
    // The last known values, for a response that is not counted.
    std::function<rate_limit_headers(const plans::account_state&)> last_known_quota;
    std::function<void(const accounts::key_owner&, time_point)> note_use;
    // Handles a POST with an Idempotency-Key. If it is not set, the operation is called directly.
    std::function<awaitable<http::response>(http::request&, caller&, const route&)>
        handle_idempotent;
};

// Handles everything under /v1, with its checks in this order: preflight, key 401, plan 403, burst
// 429, daily limit 429, path 404, method 405, size 413, type 415, then the operation (syntax and
// fields 400, object 404, conflicts; last the 422 of an Idempotency-Key). Every response carries
// X-RateLimit-*. A large response to a GET is counted in memory until it is sent; if there is no
// memory, the response is 503. An operation that throws becomes 500, or 503 for a lost dependency;
// no exception escapes.
class pipeline
{
public:
    pipeline(const clock_source& clock, std::vector<route> operations, pipeline_sources sources,
             std::vector<network> trusted_proxies, response_budget& memory);

    static bool serves(std::string_view path);
    awaitable<http::response> handle(http::request& received);

private:
    struct request_context;
    using refusal = std::optional<http::response>;

    awaitable<http::response> run(request_context& x);
    awaitable<refusal> check_key(request_context& x);
    awaitable<refusal> check_quota(request_context& x);
    refusal check_plan(request_context& x);
    refusal check_burst(request_context& x);
    awaitable<http::response> call(request_context& x);
    http::response refuse_key(request_context& x, std::string_view reason);
    http::response refuse_lookup(request_context& x, const failure& reason);

    const clock_source& clock_;
    routes operations_;
    pipeline_sources sources_;
    std::vector<network> trusted_proxies_;
    response_budget& memory_;
    failed_authentication failures_;
    failed_authentication failed_lookups_;    // of well-formed keys that do not exist
    token_bucket<key_id, time_point> bursts_; // each key has its plan's rate
};

} // namespace tempinbox::gateway
