#include "gateway/pipeline/key_checks.hpp"

#include "accounts/api_key.hpp"
#include "gateway/pipeline/cors.hpp"
#include "gateway/pipeline/key_headers.hpp"
#include "gateway/pipeline/stranger_lookups.hpp"
#include "gateway/quota/rate_limit_headers.hpp"

namespace tempinbox::gateway {
namespace {

http::response refuse_key(client_failures& failures, request_context& context,
                          const failure& reason)
{
    const auto outcome = failures.authentication.note(context.client, context.who.now);
    context.rate_limit = outcome.rate_limit;
    if (outcome.is_within) {
        auto refused = http::error_response(reason);
        // RFC 6750 3. Not Basic, for which browsers would ask.
        refused.set("WWW-Authenticate", "Bearer");
        return refused;
    }
    return too_many_requests(error_reason::authentication_limit,
                             "Too many requests without a valid API key from this address",
                             context.rate_limit, context.who.now);
}

token_rate burst_of(const request_context& context)
{
    return token_rate::per_second(context.who.limits().burst_per_second);
}

} // namespace

request_context::request_context(http::request& received, routes::match matched,
                                 passed_checks passed, time_point now)
    : passed_checks(std::move(passed)),
      request(received),
      target(std::move(matched))
{
    who.now = now;
}

void request_context::identify(std::shared_ptr<const accounts::key_owner> key_owner)
{
    owner = std::move(key_owner);
    who.state = owner->account;
    who.access = owner->access;
    if (owner->has_own_responses)
        who.owner_of_responses = owner->key;
}

refusal check_entry(const request_context& context, const std::vector<network>& trusted_proxies)
{
    if (context.target.entry)
        return context.target.entry(context.request, trusted_proxies);
    if (is_preflight(context.request))
        return preflight_response();
    return std::nullopt;
}

refusal read_key(client_failures& failures, request_context& context)
{
    const auto key = find_api_key(context.request);
    if (!key)
        return refuse_key(failures, context, key.error());
    context.key_digest = accounts::api_key_digest(*key);
    return std::nullopt;
}

awaitable<refusal> find_owner(key_cache& keys, client_failures& failures, request_context& context)
{
    const auto now = context.who.now;
    const auto allowed = allowed_lookups(failures.lookups, context.client, now);
    const auto lookup = co_await keys.find(context.key_digest, allowed);
    if (!lookup) {
        if (lookup.error().code == errc::rate_limited) {
            failures.authentication.note(context.client, now);
            context.rate_limit = failures.lookups.rate_limit(context.client, now);
        }
        co_return refuse_lookup(lookup.error(), context.rate_limit, now);
    }
    if (!lookup->owner && lookup->was_looked_up)
        failures.lookups.note(context.client, now);
    if (!lookup->owner || lookup->owner->access.has_expired(now))
        co_return refuse_key(failures, context, invalid_api_key(context.request));
    context.identify(lookup->owner);
    co_return std::nullopt;
}

refusal check_plan(request_context& context)
{
    const auto& who = context.who;
    const auto& limits = who.limits();
    context.is_on_plan = limits.api_access && context.owner->position <= limits.api_keys;
    if (context.is_on_plan)
        return std::nullopt;
    context.rate_limit = rate_limit_headers(0, 0, next_midnight(who.now));
    const auto plan = who.state.plan_at(who.now);
    if (!limits.api_access)
        return http::error_response(error_reason::plan_required,
                                    "API access is not available on the plan " + plan);
    return http::error_response(error_reason::key_inactive, "This API key is inactive: the plan " +
                                                                plan + " has room for the " +
                                                                std::to_string(limits.api_keys) +
                                                                " oldest keys of the account");
}

refusal check_burst(key_bursts& bursts, quota_client& quota, request_context& context)
{
    const auto rate = burst_of(context);
    if (bursts.take(context.owner->key, rate, context.who.now))
        return std::nullopt;
    context.burst_wait = std::chrono::ceil<std::chrono::seconds>(
        bursts.wait(context.owner->key, rate, context.who.now));
    context.rate_limit = quota.last_known(context.who.state);
    auto refused = http::error_response(
        error_reason::burst,
        "More than " + std::to_string(context.who.limits().burst_per_second) +
            " requests in one second with this API key, counting each inbox of a batch; this one "
            "was not counted against the day");
    refused.set("Retry-After", context.burst_wait->count());
    return refused;
}

void add_to_burst(key_bursts& bursts, const request_context& context, std::size_t count)
{
    bursts.take_beyond(context.owner->key, burst_of(context), static_cast<double>(count),
                       context.who.now);
}

awaitable<refusal> check_quota(quota_client& quota, request_context& context)
{
    const auto decision = co_await quota.take(context.who.state);
    const auto& day = decision.rate_limit;
    context.rate_limit = day;
    context.who.quota = day;
    if (decision.is_granted)
        co_return std::nullopt;
    co_return too_many_requests(error_reason::daily_limit,
                                "The daily limit of " + std::to_string(day.limit) +
                                    " requests is used up; it resets at " +
                                    to_iso8601(time_point{std::chrono::seconds{day.reset}}),
                                day, context.who.now);
}

} // namespace tempinbox::gateway
