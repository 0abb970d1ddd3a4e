#pragma once

#include "accounts/key_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "gateway/api/answer_memory.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/quota/burst_limit.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// What the pipeline asks others for.
struct pipeline_sources
{
    // Throws dependency_error when nobody knows.
    std::function<awaitable<result<key_answer>>(std::string digest, lookups allowed)> find_key;
    std::function<awaitable<quota_decision>(const plans::account_state&)> take_quota;
    // What is left as far as is known, for an answer that is not counted.
    std::function<quota_numbers(const plans::account_state&)> last_known_quota;
    std::function<void(const accounts::key_owner&, time_point)> note_use;
    // Answers a POST that carries an Idempotency-Key; without it the operation is called as it is.
    std::function<awaitable<http::response>(http::request&, caller&, const route&)> answer_once;
};

// Everything under /v1, in this order: preflight, key 401, plan 403, burst 429, daily limit 429,
// path 404, method 405, size 413, type 415, then the operation (syntax and fields 400, object 404,
// conflicts; last the 422 of an Idempotency-Key). Every answer carries X-RateLimit-*. A large
// answer to a GET is counted in memory until it is sent; without room it is 503. An operation that
// throws is answered 500, 503 for a lost dependency; nothing escapes.
class pipeline
{
public:
    pipeline(const clock_source& clock, const routes& operations, pipeline_sources sources,
             std::vector<network> trusted_proxies, answer_memory& memory);

    static bool serves(std::string_view path);
    awaitable<http::response> answer(http::request& received);

private:
    struct exchange;
    using refusal = std::optional<http::response>;

    awaitable<http::response> run(exchange& x);
    awaitable<refusal> check_key(exchange& x);
    awaitable<refusal> check_quota(exchange& x);
    refusal check_plan(exchange& x);
    refusal check_burst(exchange& x);
    awaitable<http::response> call(exchange& x);
    http::response refuse_key(exchange& x, std::string_view reason);
    http::response refuse_lookup(exchange& x, const failure& reason);

    const clock_source& clock_;
    const routes& operations_;
    pipeline_sources sources_;
    std::vector<network> trusted_proxies_;
    answer_memory& memory_;
    failed_authentication failures_;
    failed_authentication failed_lookups_; // of well-formed keys that nobody has
    burst_limit bursts_;
};

} // namespace tempinbox::gateway
