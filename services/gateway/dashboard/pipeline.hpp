#pragma once

#include "accounts/sign_in_tokens.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "common/crypto/digest.hpp"
#include "gateway/access/same_origin.hpp"
#include "gateway/access/session_cookie.hpp"
#include "gateway/access/session_lookups.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/pipeline/client_address.hpp"
#include "gateway/pipeline/pipeline.hpp"
#include "gateway/pipeline/request_checks.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/routes/routes.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

inline constexpr std::string_view dashboard_api_root = "/dashboard/api";

bool changes_something(const http::request& received);

// Handles everything under /dashboard/api. Public operations must come from our own page (403). All
// others need a session and are checked in this order: session 401, CSRF token 403, burst 429, the
// day of the account's sessions 429, then as under /v1. Nothing counts against the day of the API.
// An address that sent too many sessions that do not exist gets 429 until the minute ends, unless
// its session was seen open here before. X-API-Key has no effect here. An operation that throws
// becomes 500, or 503 for a lost dependency; no exception escapes.
// Parts: what it works with, by reference: `sessions` (session_lookups), `day` (session_day),
// `quota` (quota_client), `idempotency` (idempotent_calls). Unit tests script them, since sessions
// and idempotency need PostgreSQL.
template <class Parts>
class basic_dashboard_pipeline
{
public:
    using refusal = std::optional<http::response>;

    static constexpr int requests_per_second = 50;

    basic_dashboard_pipeline(const clock_source& clock, std::vector<route> open_operations,
                             std::vector<route> operations, Parts parts,
                             std::vector<network> trusted_proxies, response_budget& memory);

    static bool serves(std::string_view path);
    // The response to a request that its header alone decides: a page of another site where no
    // session is needed, else no session. `handle` answers the same; asked first, so that a
    // stranger's body is not read.
    refusal judge_header(const http::request& received) const;
    awaitable<http::response> handle(http::request& received);

private:
    struct request_context;

    awaitable<http::response> run(request_context& x);
    awaitable<http::response> run_open(request_context& x);
    refusal check_origin(const http::request& received) const;
    static void complete(http::response& response);
    awaitable<http::response> call(request_context& x);
    awaitable<refusal> check_session(request_context& x);
    refusal check_csrf_token(request_context& x);
    refusal check_burst(request_context& x);
    awaitable<refusal> check_day(request_context& x);
    static http::response refuse_lookup(const request_context& x, const failure& reason,
                                        const rate_limit_headers& rate_limit);

    const clock_source& clock_;
    routes open_operations_;
    routes operations_;
    Parts parts_;
    std::vector<network> trusted_proxies_;
    response_budget& memory_;
    token_bucket<account_id, time_point> bursts_{token_rate::per_second(requests_per_second)};
    failed_authentication failed_lookups_; // of sessions that do not exist
};

// A request and what its checks found.
template <class Parts>
struct basic_dashboard_pipeline<Parts>::request_context
{
    http::request& request;
    session_cookie cookie;
    std::optional<secret> token;
    routes::match target;
    caller who;

    request_context(http::request& received, bool is_secure, time_point now)
        : request(received),
          cookie(is_secure)
    {
        who.now = now;
        who.root = dashboard_api_root;
        who.is_dashboard = true;
    }
};

template <class Parts>
basic_dashboard_pipeline<Parts>::basic_dashboard_pipeline(
    const clock_source& clock, std::vector<route> open_operations, std::vector<route> operations,
    Parts parts, std::vector<network> trusted_proxies, response_budget& memory)
    : clock_(clock),
      open_operations_(std::move(open_operations)),
      operations_(std::move(operations)),
      parts_(parts),
      trusted_proxies_(std::move(trusted_proxies)),
      memory_(memory)
{}

template <class Parts>
bool basic_dashboard_pipeline<Parts>::serves(std::string_view path)
{
    return path == dashboard_api_root ||
           (path.starts_with(dashboard_api_root) && path[dashboard_api_root.size()] == '/');
}

template <class Parts>
awaitable<http::response> basic_dashboard_pipeline<Parts>::handle(http::request& received)
{
    request_context x(received, is_over_tls(received, trusted_proxies_), clock_.now());
    auto response = co_await respond(run(x), received);
    complete(response);
    co_return response;
}

template <class Parts>
typename basic_dashboard_pipeline<Parts>::refusal
basic_dashboard_pipeline<Parts>::judge_header(const http::request& received) const
{
    refusal refused;
    if (open_operations_.find(received).operation)
        refused = check_origin(received);
    else if (!session_cookie(is_over_tls(received, trusted_proxies_)).find(received))
        refused = error_response(dashboard_error::no_session);
    if (refused)
        complete(*refused);
    return refused;
}

// What every response carries.
template <class Parts>
void basic_dashboard_pipeline<Parts>::complete(http::response& response)
{
    add_error_code(response);
    response.set("Cache-Control", "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
}

template <class Parts>
awaitable<http::response> basic_dashboard_pipeline<Parts>::run(request_context& x)
{
    x.target = open_operations_.find(x.request);
    if (x.target.operation)
        co_return co_await run_open(x);
    if (auto refused = co_await check_session(x))
        co_return std::move(*refused);
    if (auto refused = check_csrf_token(x))
        co_return std::move(*refused);
    if (auto refused = check_burst(x))
        co_return std::move(*refused);
    if (auto refused = co_await check_day(x))
        co_return std::move(*refused);
    x.target = operations_.find(x.request);
    if (auto refused = check_request(x.request, x.target, x.who))
        co_return std::move(*refused);
    x.who.quota = parts_.quota.last_known(x.who.state);
    auto response = co_await call(x);
    const bool is_read = !changes_something(x.request);
    if (is_read)
        response = reserve_response(std::move(response), x.who.account(), memory_);
    if (!is_read || !took_long(clock_.now() - x.who.now))
        co_return response;
    // Data that is read after a long time, such as awaited mail, is not given to a session that
    // ended meanwhile.
    x.who.now = clock_.now();
    if (auto refused = co_await check_session(x))
        co_return std::move(*refused);
    co_return response;
}

template <class Parts>
awaitable<http::response> basic_dashboard_pipeline<Parts>::run_open(request_context& x)
{
    if (auto refused = check_origin(x.request))
        co_return std::move(*refused);
    if (auto refused = check_request(x.request, x.target, x.who))
        co_return std::move(*refused);
    const auto& handle = x.target.operation->handle;
    co_return co_await handle(x.request, x.who);
}

template <class Parts>
typename basic_dashboard_pipeline<Parts>::refusal
basic_dashboard_pipeline<Parts>::check_origin(const http::request& received) const
{
    if (!changes_something(received))
        return std::nullopt;
    const auto own = check_same_origin(received, trusted_proxies_);
    if (own)
        return std::nullopt;
    return error_response(dashboard_error::other_site, own.error().message);
}

template <class Parts>
awaitable<http::response> basic_dashboard_pipeline<Parts>::call(request_context& x)
{
    const auto& operation = *x.target.operation;
    const bool takes_idempotency_key = x.request.method == "POST" && !operation.holds_password;
    if (takes_idempotency_key && x.request.header("Idempotency-Key"))
        return parts_.idempotency.handle(x.request, x.who, operation);
    return operation.handle(x.request, x.who);
}

template <class Parts>
awaitable<typename basic_dashboard_pipeline<Parts>::refusal>
basic_dashboard_pipeline<Parts>::check_session(request_context& x)
{
    x.token = x.cookie.find(x.request);
    if (!x.token)
        co_return error_response(dashboard_error::no_session);
    auto digest = accounts::session_digest(x.token->reveal());
    const auto client = client_address(x.request, trusted_proxies_);
    const auto allowed =
        failed_lookups_.has_allowance(client, x.who.now) ? lookups::all : lookups::seen_good;
    const auto found = co_await parts_.sessions.find(std::move(digest), allowed);
    if (!found)
        co_return refuse_lookup(x, found.error(), failed_lookups_.rate_limit(client, x.who.now));
    if (found->account) {
        x.who.state = found->account->state;
        co_return std::nullopt;
    }
    if (found->was_strange)
        failed_lookups_.note(client, x.who.now);
    auto refused = error_response(dashboard_error::session_ended);
    x.cookie.clear(refused);
    co_return refused;
}

// The session was not looked up: too many lookups are under way, or too many sessions from this
// address did not exist.
template <class Parts>
http::response basic_dashboard_pipeline<Parts>::refuse_lookup(const request_context& x,
                                                              const failure& reason,
                                                              const rate_limit_headers& rate_limit)
{
    auto refused = http::error_response(reason);
    if (reason.code == errc::rate_limited)
        refused.set("Retry-After",
                    std::max<std::int64_t>(1, rate_limit.reset - to_unix_seconds(x.who.now)));
    return refused;
}

template <class Parts>
typename basic_dashboard_pipeline<Parts>::refusal
basic_dashboard_pipeline<Parts>::check_csrf_token(request_context& x)
{
    if (!changes_something(x.request))
        return std::nullopt;
    const auto given = x.request.header("X-CSRF-Token");
    if (given && crypto::equal_constant_time(*given, csrf_token_of(*x.token)))
        return std::nullopt;
    return error_response(given ? dashboard_error::csrf_token_mismatch
                                : dashboard_error::csrf_token_missing);
}

template <class Parts>
typename basic_dashboard_pipeline<Parts>::refusal
basic_dashboard_pipeline<Parts>::check_burst(request_context& x)
{
    // Buckets are per account here, so opening more sessions gives no more requests.
    if (bursts_.take(x.who.account(), x.who.now))
        return std::nullopt;
    auto refused = error_response(dashboard_error::burst_limit_reached,
                                  "More than " + std::to_string(requests_per_second) +
                                      " requests in one second");
    refused.set("Retry-After", 1);
    return refused;
}

template <class Parts>
awaitable<typename basic_dashboard_pipeline<Parts>::refusal>
basic_dashboard_pipeline<Parts>::check_day(request_context& x)
{
    const auto decision = co_await parts_.day.take(x.who.account());
    if (decision.is_granted)
        co_return std::nullopt;
    const auto& day = decision.rate_limit;
    auto refused = error_response(
        dashboard_error::daily_limit_reached,
        "The daily limit of " + std::to_string(day.limit) +
            " requests through the sessions of an account is used up; it resets at " +
            to_iso8601(time_point{std::chrono::seconds{day.reset}}));
    refused.set("Retry-After", std::max<std::int64_t>(1, day.reset - to_unix_seconds(x.who.now)));
    co_return refused;
}

} // namespace tempinbox::gateway
