#pragma once

#include "accounts/api_key.hpp"
#include "accounts/key_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "gateway/api/client_address.hpp"
#include "gateway/api/cors.hpp"
#include "gateway/api/request_checks.hpp"
#include "gateway/api/response_budget.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/quota/rate_limit_headers.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// 429 with the day's numbers and Retry-After.
http::response too_many_requests(std::string_view reason, const rate_limit_headers& rate_limit,
                                 time_point now);

// Whether a GET took so long that its key or session is checked again before its response: mostly
// long polls. The check is usually a cache lookup.
bool took_long(time_point::duration duration);

// Handles everything under /v1, with its checks in this order: preflight, key 401, plan 403, burst
// 429, daily limit 429, path 404, method 405, size 413, type 415, then the operation (syntax and
// fields 400, object 404, conflicts; last the 422 of an Idempotency-Key). Every response carries
// X-RateLimit-*. A large response to a GET is counted in memory until it is sent; if there is no
// memory, the response is 503. An operation that throws becomes 500, or 503 for a lost dependency;
// no exception escapes. Parts: what it works with, by reference: `keys` (key_cache), `quota`
// (quota_client), `uses` (key_uses), `idempotency` (idempotent_calls). Unit tests script them,
// since all but `quota` need PostgreSQL.
template <class Parts>
class basic_pipeline
{
public:
    basic_pipeline(const clock_source& clock, std::vector<route> operations, Parts parts,
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
    Parts parts_;
    std::vector<network> trusted_proxies_;
    response_budget& memory_;
    failed_authentication failures_;
    failed_authentication failed_lookups_;    // of well-formed keys that do not exist
    token_bucket<key_id, time_point> bursts_; // each key has its plan's rate
};

// A request and what its checks found.
template <class Parts>
struct basic_pipeline<Parts>::request_context
{
    http::request& request;
    boost::asio::ip::address client;
    rate_limit_headers rate_limit;
    std::shared_ptr<const accounts::key_owner> owner;
    routes::match target;
    caller who;

    request_context(http::request& received, boost::asio::ip::address address,
                    rate_limit_headers before, time_point now)
        : request(received),
          client(std::move(address)),
          rate_limit(before)
    {
        who.now = now;
    }
};

template <class Parts>
basic_pipeline<Parts>::basic_pipeline(const clock_source& clock, std::vector<route> operations,
                                      Parts parts, std::vector<network> trusted_proxies,
                                      response_budget& memory)
    : clock_(clock),
      operations_(std::move(operations)),
      parts_(parts),
      trusted_proxies_(std::move(trusted_proxies)),
      memory_(memory)
{}

template <class Parts>
bool basic_pipeline<Parts>::serves(std::string_view path)
{
    return path == "/v1" || path.starts_with("/v1/");
}

template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::handle(http::request& received)
{
    const auto now = clock_.now();
    const auto address = client_address(received, trusted_proxies_);
    request_context x(received, address, failures_.rate_limit(address, now), now);
    auto response = co_await respond(run(x), received);
    set_rate_limit_headers(response, x.rate_limit);
    response.set("Cache-Control", "no-store");
    allow_origin(received, response);
    co_return response;
}

template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::run(request_context& x)
{
    if (is_preflight(x.request))
        co_return preflight_response();
    if (auto refused = co_await check_key(x))
        co_return std::move(*refused);
    if (auto refused = check_plan(x))
        co_return std::move(*refused);
    if (auto refused = check_burst(x))
        co_return std::move(*refused);
    if (auto refused = co_await check_quota(x))
        co_return std::move(*refused);
    x.target = operations_.find(x.request);
    if (auto refused = check_request(x.request, x.target))
        co_return std::move(*refused);
    auto response = co_await call(x);
    const bool is_read = x.target.operation->method == "GET";
    if (is_read)
        response = reserve_response(std::move(response), x.who.account(), memory_);
    if (!is_read || !took_long(clock_.now() - x.who.now))
        co_return response;
    // Data that is read after a long time, such as awaited mail, is not given to a key that was
    // revoked meanwhile.
    x.who.now = clock_.now();
    if (auto refused = co_await check_key(x))
        co_return std::move(*refused);
    if (auto refused = check_plan(x))
        co_return std::move(*refused);
    co_return response;
}

template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::call(request_context& x)
{
    const auto& operation = *x.target.operation;
    if (x.request.method == "POST" && x.request.header("Idempotency-Key"))
        return parts_.idempotency.handle(x.request, x.who, operation);
    return operation.handle(x.request, x.who);
}

template <class Parts>
awaitable<typename basic_pipeline<Parts>::refusal>
basic_pipeline<Parts>::check_key(request_context& x)
{
    const auto key = x.request.header("X-API-Key");
    if (!key)
        co_return refuse_key(x, "Header X-API-Key is missing");
    if (is_given_twice(x.request, "X-API-Key"))
        co_return refuse_key(x, "Header X-API-Key is given more than once");
    if (!accounts::is_well_formed_api_key(*key))
        co_return refuse_key(x, "X-API-Key is not a valid API key");
    const auto allowed =
        failed_lookups_.has_allowance(x.client, x.who.now) ? lookups::all : lookups::seen_good;
    const auto found = co_await parts_.keys.find(accounts::api_key_digest(*key), allowed);
    if (!found)
        co_return refuse_lookup(x, found.error());
    x.owner = found->owner;
    if (!x.owner) {
        if (found->was_looked_up)
            failed_lookups_.note(x.client, x.who.now);
        co_return refuse_key(x, "X-API-Key is not a valid API key");
    }
    x.who.state = x.owner->account;
    co_return std::nullopt;
}

// The failure counts against the client's address: 401 while its allowance lasts, then 429.
template <class Parts>
http::response basic_pipeline<Parts>::refuse_key(request_context& x, std::string_view reason)
{
    const auto outcome = failures_.note(x.client, x.who.now);
    x.rate_limit = outcome.rate_limit;
    if (outcome.is_within)
        return http::error_response(401, reason);
    return too_many_requests("Too many requests without a valid API key from this address",
                             x.rate_limit, x.who.now);
}

// The key was not looked up: too many lookups are under way, or too many keys from this address did
// not exist.
template <class Parts>
http::response basic_pipeline<Parts>::refuse_lookup(request_context& x, const failure& reason)
{
    if (reason.code != errc::rate_limited)
        return http::error_response(reason);
    failures_.note(x.client, x.who.now);
    x.rate_limit = failed_lookups_.rate_limit(x.client, x.who.now);
    return too_many_requests(reason.message, x.rate_limit, x.who.now);
}

template <class Parts>
typename basic_pipeline<Parts>::refusal basic_pipeline<Parts>::check_plan(request_context& x)
{
    const auto& limits = x.who.limits();
    const auto plan = x.who.state.plan_at(x.who.now);
    if (limits.api_access && x.owner->position <= limits.api_keys)
        return std::nullopt;
    x.rate_limit = rate_limit_headers(0, 0, next_midnight(x.who.now));
    if (!limits.api_access)
        return http::error_response(403, "API access is not available on the plan " + plan);
    return http::error_response(403, "This API key is inactive: the plan " + plan +
                                         " has room for the " + std::to_string(limits.api_keys) +
                                         " oldest keys of the account");
}

template <class Parts>
typename basic_pipeline<Parts>::refusal basic_pipeline<Parts>::check_burst(request_context& x)
{
    const auto max_burst = x.who.limits().burst_per_second;
    if (bursts_.take(x.owner->key, token_rate::per_second(max_burst), x.who.now))
        return std::nullopt;
    x.rate_limit = parts_.quota.last_known(x.who.state);
    auto refused = http::error_response(
        429,
        "More than " + std::to_string(max_burst) +
            " requests in one second with this API key; this one was not counted against the day");
    refused.set("Retry-After", 1);
    return refused;
}

template <class Parts>
awaitable<typename basic_pipeline<Parts>::refusal>
basic_pipeline<Parts>::check_quota(request_context& x)
{
    const auto decision = co_await parts_.quota.take(x.who.state);
    x.rate_limit = decision.rate_limit;
    x.who.quota = decision.rate_limit;
    parts_.uses.note(*x.owner, x.who.now);
    if (decision.is_granted)
        co_return std::nullopt;
    co_return too_many_requests(
        "The daily limit of " + std::to_string(x.rate_limit.limit) +
            " requests is used up; it resets at " +
            to_iso8601(time_point{std::chrono::seconds{x.rate_limit.reset}}),
        x.rate_limit, x.who.now);
}

} // namespace tempinbox::gateway
