#include "gateway/dashboard/session_checks.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/crypto/digest.hpp"
#include "gateway/access/same_origin.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/pipeline/client_address.hpp"
#include "gateway/pipeline/stranger_lookups.hpp"
#include "gateway/quota/rate_limit_headers.hpp"

namespace tempinbox::gateway {
namespace {

bool changes_something(const http::request& received)
{
    return received.method != "GET" && received.method != "HEAD";
}

} // namespace

dashboard_context::dashboard_context(http::request& received,
                                     const std::vector<network>& trusted_proxies, time_point now)
    : request(received),
      client(client_address(received, trusted_proxies)),
      cookie(is_over_tls(received, trusted_proxies))
{
    who.now = now;
    who.root = dashboard_api_root;
    who.is_dashboard = true;
}

refusal check_origin(const dashboard_context& context, const std::vector<network>& trusted_proxies)
{
    if (!changes_something(context.request))
        return std::nullopt;
    const auto own = check_same_origin(context.request, trusted_proxies);
    if (own)
        return std::nullopt;
    return http::error_response(own.error());
}

refusal read_session(dashboard_context& context)
{
    context.token = context.cookie.find(context.request);
    if (!context.token)
        return error_response(dashboard_error::no_session);
    return std::nullopt;
}

awaitable<refusal> find_account(session_lookups& sessions, failed_authentication& failed_lookups,
                                dashboard_context& context)
{
    const auto now = context.who.now;
    const auto allowed = allowed_lookups(failed_lookups, context.client, now);
    auto digest = accounts::session_digest(context.token->reveal());
    const auto lookup = co_await sessions.find(std::move(digest), allowed);
    if (!lookup)
        co_return refuse_lookup(lookup.error(), failed_lookups.rate_limit(context.client, now),
                                now);
    if (lookup->account) {
        context.who.state = lookup->account->state;
        co_return std::nullopt;
    }
    if (lookup->was_strange)
        failed_lookups.note(context.client, now);
    auto refused = error_response(dashboard_error::session_ended);
    context.cookie.clear(refused);
    co_return refused;
}

refusal check_csrf_token(const dashboard_context& context)
{
    if (!changes_something(context.request))
        return std::nullopt;
    const auto token = context.request.header("X-CSRF-Token");
    if (token && crypto::equal_constant_time(*token, csrf_token_of(*context.token)))
        return std::nullopt;
    return error_response(token ? dashboard_error::csrf_token_mismatch
                                : dashboard_error::csrf_token_missing);
}

refusal check_session_burst(token_bucket<account_id, time_point>& bursts,
                            const dashboard_context& context)
{
    if (bursts.take(context.who.account(), token_rate::per_second(session_requests_per_second),
                    context.who.now))
        return std::nullopt;
    auto refused = http::error_response(error_reason::burst,
                                        "More than " + std::to_string(session_requests_per_second) +
                                            " requests in one second");
    refused.set("Retry-After", 1);
    return refused;
}

awaitable<refusal> check_session_day(session_day& day, const dashboard_context& context)
{
    const auto decision = co_await day.take(context.who.account());
    if (decision.is_granted)
        co_return std::nullopt;
    const auto& numbers = decision.rate_limit;
    auto refused = http::error_response(
        error_reason::daily_limit,
        "The daily limit of " + std::to_string(numbers.limit) +
            " requests through the sessions of an account is used up; it resets at " +
            to_iso8601(time_point{std::chrono::seconds{numbers.reset}}));
    set_retry_after(refused, numbers, context.who.now);
    co_return refused;
}

} // namespace tempinbox::gateway
