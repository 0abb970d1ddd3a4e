#pragma once

#include "accounts/api_key.hpp"
#include "accounts/key_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "gateway/access/key_cache.hpp"
#include "gateway/pipeline/client_address.hpp"
#include "gateway/pipeline/cors.hpp"
#include "gateway/pipeline/key_headers.hpp"
#include "gateway/pipeline/mcp_entry.hpp"
#include "gateway/pipeline/request_checks.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/quota/rate_limit_headers.hpp"
#include "gateway/routes/routes.hpp"

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
// 429, daily limit 429, path 404, method 405, scope 403, size 413, type 415, object outside the
// key's tag 404, then the operation (syntax and fields 400, object 404, conflicts; last the 422 of
// an Idempotency-Key). /mcp has the same checks; before them a page of another site is 403 and a
// method but POST 405. Every response carries X-RateLimit-*. A large response to a GET is counted
// in memory until it is sent; if there is no memory, the response is 503. An operation that throws
// becomes 500, or 503 for a lost dependency; no exception escapes. Parts: what it works with, by
// reference: `keys` (key_cache), `quota` (quota_client), `uses` (key_uses), `idempotency`
// (idempotent_calls), `tags` (tag_check). Unit tests script them, since most need PostgreSQL or the
// inbox service.
template <class Parts>
class basic_pipeline
{
public:
    using refusal = std::optional<http::response>;

    basic_pipeline(const clock_source& clock, std::vector<route> operations, Parts parts,
                   std::vector<network> trusted_proxies, response_budget& memory);

    static bool serves(std::string_view path);
    // The response to a request that its header alone decides: a preflight, a page of another site,
    // no key or an ill-formed one. `handle` answers the same; asked first, so that a stranger's
    // body is not read.
    refusal judge_header(const http::request& received);
    awaitable<http::response> handle(http::request& received);

private:
    struct request_context;
    struct passed_checks;

    awaitable<http::response> run(request_context& x);
    awaitable<http::response> perform(request_context& x);
    awaitable<http::response> perform_for(passed_checks by, http::request& inner);
    refusal check_entry(const http::request& received) const;
    awaitable<refusal> check_key(request_context& x);
    awaitable<refusal> find_owner(request_context& x);
    awaitable<refusal> check_quota(request_context& x);
    refusal check_plan(request_context& x);
    refusal check_burst(request_context& x);
    awaitable<http::response> call(request_context& x, const route& operation);
    http::response refuse_key(rate_limit_headers& rate_limit,
                              const boost::asio::ip::address& client, std::string_view reason,
                              time_point now);
    static void complete(http::response& response, const http::request& received,
                         const rate_limit_headers& rate_limit);
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
    std::string key_digest;
    std::shared_ptr<const accounts::key_owner> owner;
    caller who;

    request_context(http::request& received, boost::asio::ip::address address,
                    rate_limit_headers before, time_point now)
        : request(received),
          client(std::move(address)),
          rate_limit(before)
    {
        who.now = now;
    }

    void identify(std::shared_ptr<const accounts::key_owner> found)
    {
        owner = std::move(found);
        who.state = owner->account;
        who.access = owner->access;
        if (owner->has_own_responses)
            who.owner_of_responses = owner->key;
    }
};

// What the checks of a request found, for the operations that it calls in this process.
template <class Parts>
struct basic_pipeline<Parts>::passed_checks
{
    boost::asio::ip::address client;
    rate_limit_headers rate_limit;
    std::string key_digest;
    std::shared_ptr<const accounts::key_owner> owner;
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
    return path == "/v1" || path.starts_with("/v1/") || path == mcp_path;
}

template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::handle(http::request& received)
{
    const auto now = clock_.now();
    const auto address = client_address(received, trusted_proxies_);
    request_context x(received, address, failures_.rate_limit(address, now), now);
    auto response = co_await respond(run(x), received);
    complete(response, received, x.rate_limit);
    co_return response;
}

template <class Parts>
typename basic_pipeline<Parts>::refusal
basic_pipeline<Parts>::judge_header(const http::request& received)
{
    auto refused = check_entry(received);
    const auto key = find_api_key(received);
    if (!refused && key)
        return std::nullopt;
    const auto now = clock_.now();
    const auto client = client_address(received, trusted_proxies_);
    auto rate_limit = failures_.rate_limit(client, now);
    if (!refused)
        refused = refuse_key(rate_limit, client, key.error().message, now);
    complete(*refused, received, rate_limit);
    return refused;
}

// What every response carries.
template <class Parts>
void basic_pipeline<Parts>::complete(http::response& response, const http::request& received,
                                     const rate_limit_headers& rate_limit)
{
    set_rate_limit_headers(response, rate_limit);
    response.set("Cache-Control", "no-store");
    if (!is_mcp(received))
        allow_origin(received, response);
}

template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::run(request_context& x)
{
    if (auto refused = check_entry(x.request))
        co_return std::move(*refused);
    if (auto refused = co_await check_key(x))
        co_return std::move(*refused);
    if (auto refused = check_plan(x))
        co_return std::move(*refused);
    if (auto refused = check_burst(x))
        co_return std::move(*refused);
    if (auto refused = co_await check_quota(x))
        co_return std::move(*refused);
    co_return co_await perform(x);
}

// What another site's page may ask, and how.
template <class Parts>
typename basic_pipeline<Parts>::refusal
basic_pipeline<Parts>::check_entry(const http::request& received) const
{
    if (is_mcp(received))
        return check_mcp_entry(received, trusted_proxies_);
    if (is_preflight(received))
        return preflight_response();
    return std::nullopt;
}

// The checks of the request itself, and its operation: the one place where a caller's scopes and
// tag are judged.
template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::perform(request_context& x)
{
    const auto target = operations_.find(x.request);
    if (auto refused = check_request(x.request, target, x.who))
        co_return std::move(*refused);
    if (auto refused = co_await parts_.tags.check(x.request, x.who))
        co_return std::move(*refused);
    auto response = co_await call(x, *target.operation);
    const bool is_read = target.operation->method == "GET";
    if (is_read)
        response = reserve_response(std::move(response), x.who.account(), memory_);
    if (!is_read || !took_long(clock_.now() - x.who.now))
        co_return response;
    // Data that is read after a long time, such as awaited mail, is not given to a key that was
    // revoked or expired meanwhile, nor if its inbox lost the key's tag.
    x.who.now = clock_.now();
    if (auto refused = co_await find_owner(x))
        co_return std::move(*refused);
    if (auto refused = check_plan(x))
        co_return std::move(*refused);
    if (auto refused = co_await parts_.tags.check(x.request, x.who))
        co_return std::move(*refused);
    co_return response;
}

// An operation that is called by another one.
template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::perform_for(passed_checks by, http::request& inner)
{
    request_context x(inner, by.client, by.rate_limit, clock_.now());
    x.key_digest = std::move(by.key_digest);
    x.identify(std::move(by.owner));
    x.who.quota = by.rate_limit;
    co_return co_await respond(perform(x), inner);
}

template <class Parts>
awaitable<http::response> basic_pipeline<Parts>::call(request_context& x, const route& operation)
{
    if (operation.calls_others) {
        x.who.call = [this, by = passed_checks{x.client, x.rate_limit, x.key_digest, x.owner}](
                         http::request& inner) { return perform_for(by, inner); };
        co_return co_await operation.handle(x.request, x.who);
    }
    if (x.request.method != "POST" || !x.request.header("Idempotency-Key"))
        co_return co_await operation.handle(x.request, x.who);
    auto response = co_await parts_.idempotency.handle(x.request, x.who, operation);
    // The response may be that of an earlier request, and its inbox without the key's tag by now.
    if (auto refused = co_await parts_.tags.check_created(response, x.who))
        co_return std::move(*refused);
    co_return response;
}

template <class Parts>
awaitable<typename basic_pipeline<Parts>::refusal>
basic_pipeline<Parts>::check_key(request_context& x)
{
    const auto key = find_api_key(x.request);
    if (!key)
        co_return refuse_key(x.rate_limit, x.client, key.error().message, x.who.now);
    x.key_digest = accounts::api_key_digest(*key);
    co_return co_await find_owner(x);
}

template <class Parts>
awaitable<typename basic_pipeline<Parts>::refusal>
basic_pipeline<Parts>::find_owner(request_context& x)
{
    const auto allowed =
        failed_lookups_.has_allowance(x.client, x.who.now) ? lookups::all : lookups::seen_good;
    const auto found = co_await parts_.keys.find(x.key_digest, allowed);
    if (!found)
        co_return refuse_lookup(x, found.error());
    if (!found->owner) {
        if (found->was_looked_up)
            failed_lookups_.note(x.client, x.who.now);
        co_return refuse_key(x.rate_limit, x.client, invalid_api_key(x.request), x.who.now);
    }
    if (found->owner->access.has_expired(x.who.now))
        co_return refuse_key(x.rate_limit, x.client, invalid_api_key(x.request), x.who.now);
    x.identify(found->owner);
    co_return std::nullopt;
}

// The failure counts against the client's address: 401 while its allowance lasts, then 429.
template <class Parts>
http::response basic_pipeline<Parts>::refuse_key(rate_limit_headers& rate_limit,
                                                 const boost::asio::ip::address& client,
                                                 std::string_view reason, time_point now)
{
    const auto outcome = failures_.note(client, now);
    rate_limit = outcome.rate_limit;
    if (outcome.is_within)
        return http::error_response(401, reason);
    return too_many_requests("Too many requests without a valid API key from this address",
                             rate_limit, now);
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
