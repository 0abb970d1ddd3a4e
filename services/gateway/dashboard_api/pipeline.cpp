#include "gateway/dashboard_api/pipeline.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/crypto/digest.hpp"
#include "gateway/api/client_address.hpp"
#include "gateway/api/request_checks.hpp"
#include "gateway/dashboard_api/errors.hpp"
#include "gateway/sessions/same_origin.hpp"
#include "gateway/sessions/session_cookie.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

// A GET that took longer has its session looked up again before its response.
constexpr std::chrono::milliseconds recheck_after{100};

bool changes_something(const http::request& received)
{
    return received.method != "GET" && received.method != "HEAD";
}

} // namespace

// A request and what its checks found.
struct dashboard_pipeline::request_context
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
        who.root = root;
        who.is_dashboard = true;
    }
};

dashboard_pipeline::dashboard_pipeline(const clock_source& clock,
                                       std::vector<route> open_operations,
                                       std::vector<route> operations, dashboard_sources sources,
                                       std::vector<network> trusted_proxies,
                                       response_budget& memory)
    : clock_(clock),
      open_operations_(std::move(open_operations)),
      operations_(std::move(operations)),
      sources_(std::move(sources)),
      trusted_proxies_(std::move(trusted_proxies)),
      memory_(memory)
{}

bool dashboard_pipeline::serves(std::string_view path)
{
    return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

awaitable<http::response> dashboard_pipeline::handle(http::request& received)
{
    request_context x(received, is_over_tls(received, trusted_proxies_), clock_.now());
    http::response response;
    try {
        response = co_await run(x);
    } catch (const dependency_error& error) {
        response = unavailable_response(received, error.what());
    } catch (const std::exception& error) {
        response = internal_error_response(received, error.what());
    }
    add_error_code(response);
    response.set("Cache-Control", "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
    co_return response;
}

awaitable<http::response> dashboard_pipeline::run(request_context& x)
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
    if (auto refused = check_request(x.request, x.target))
        co_return std::move(*refused);
    x.who.quota = sources_.last_known_quota(x.who.state);
    auto response = co_await call(x);
    const bool is_read = !changes_something(x.request);
    if (is_read)
        response = reserve_response(std::move(response), x.who.account(), memory_);
    if (!is_read || clock_.now() - x.who.now < recheck_after)
        co_return response;
    // Data that is read after a long time, such as awaited mail, is not given to a session that
    // ended meanwhile.
    x.who.now = clock_.now();
    if (auto refused = co_await check_session(x))
        co_return std::move(*refused);
    co_return response;
}

awaitable<http::response> dashboard_pipeline::run_open(request_context& x)
{
    if (changes_something(x.request))
        if (const auto own = check_same_origin(x.request, trusted_proxies_); !own)
            co_return error_response(dashboard_error::other_site, own.error().message);
    if (auto refused = check_request(x.request, x.target))
        co_return std::move(*refused);
    const auto& handle = x.target.operation->handle;
    co_return co_await handle(x.request, x.who);
}

awaitable<http::response> dashboard_pipeline::call(request_context& x)
{
    const auto& operation = *x.target.operation;
    const bool takes_idempotency_key = x.request.method == "POST" && !operation.holds_password;
    if (takes_idempotency_key && sources_.handle_idempotent && x.request.header("Idempotency-Key"))
        return sources_.handle_idempotent(x.request, x.who, operation);
    return operation.handle(x.request, x.who);
}

awaitable<dashboard_pipeline::refusal> dashboard_pipeline::check_session(request_context& x)
{
    x.token = x.cookie.find(x.request);
    if (!x.token)
        co_return error_response(dashboard_error::no_session);
    auto digest = accounts::session_digest(x.token->reveal());
    const auto client = client_address(x.request, trusted_proxies_);
    const auto allowed =
        failed_lookups_.has_allowance(client, x.who.now) ? lookups::all : lookups::seen_good;
    const auto found = co_await sources_.find_session(std::move(digest), allowed);
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
http::response dashboard_pipeline::refuse_lookup(const request_context& x, const failure& reason,
                                                 const rate_limit_headers& rate_limit)
{
    auto refused = http::error_response(reason);
    if (reason.code == errc::rate_limited)
        refused.set("Retry-After",
                    std::max<std::int64_t>(1, rate_limit.reset - to_unix_seconds(x.who.now)));
    return refused;
}

dashboard_pipeline::refusal dashboard_pipeline::check_csrf_token(request_context& x)
{
    if (!changes_something(x.request))
        return std::nullopt;
    const auto given = x.request.header("X-CSRF-Token");
    if (given && crypto::equal_constant_time(*given, csrf_token_of(*x.token)))
        return std::nullopt;
    return error_response(given ? dashboard_error::csrf_token_mismatch
                                : dashboard_error::csrf_token_missing);
}

dashboard_pipeline::refusal dashboard_pipeline::check_burst(request_context& x)
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

awaitable<dashboard_pipeline::refusal> dashboard_pipeline::check_day(request_context& x)
{
    if (!sources_.take_session_quota)
        co_return std::nullopt;
    const auto decision = co_await sources_.take_session_quota(x.who.account());
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
