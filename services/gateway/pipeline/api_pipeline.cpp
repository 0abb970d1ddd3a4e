#include "gateway/pipeline/api_pipeline.hpp"

#include "gateway/pipeline/client_address.hpp"
#include "gateway/pipeline/cors.hpp"
#include "gateway/pipeline/ended_inbox.hpp"
#include "gateway/pipeline/request_checks.hpp"
#include "gateway/quota/rate_limit_headers.hpp"

namespace tempinbox::gateway {

api_pipeline::api_pipeline(const clock_source& clock, std::vector<route> operations,
                           const api_parts& parts, std::vector<network> trusted_proxies)
    : clock_(clock),
      operations_(std::move(operations)),
      parts_(parts),
      trusted_proxies_(std::move(trusted_proxies))
{}

bool api_pipeline::serves(std::string_view path) const
{
    return path == "/v1" || path.starts_with("/v1/") || operations_.has_path(path);
}

refusal api_pipeline::judge_header(http::request& received)
{
    auto context = begin(received);
    auto refused = check_entry(context, trusted_proxies_);
    if (!refused)
        refused = read_key(failures_, context);
    if (refused)
        complete(*refused, context);
    return refused;
}

awaitable<http::response> api_pipeline::handle(http::request& received)
{
    auto context = begin(received);
    auto response = co_await respond(run(context), received);
    complete(response, context);
    co_return response;
}

request_context api_pipeline::begin(http::request& received)
{
    const auto now = clock_.now();
    passed_checks sender;
    sender.client = client_address(received, trusted_proxies_);
    sender.rate_limit = failures_.authentication.rate_limit(sender.client, now);
    return request_context(received, operations_.find(received), std::move(sender), now);
}

// What every response carries.
void api_pipeline::complete(http::response& response, const request_context& context)
{
    set_rate_limit_headers(response, context.rate_limit);
    if (context.is_on_plan) {
        const auto& limits = context.who.limits();
        set_allowance_headers(
            response, {limits.requests_per_day, limits.burst_per_second, context.burst_wait},
            context.rate_limit, context.who.now);
    }
    response.set("Cache-Control", "no-store");
    if (!context.target.entry)
        allow_origin(context.request, response);
}

awaitable<http::response> api_pipeline::run(request_context& context)
{
    if (auto refused = check_entry(context, trusted_proxies_))
        co_return std::move(*refused);
    if (auto refused = read_key(failures_, context))
        co_return std::move(*refused);
    if (auto refused = co_await find_owner(parts_.keys, failures_, context))
        co_return std::move(*refused);
    if (auto refused = check_plan(context))
        co_return std::move(*refused);
    if (auto refused = check_burst(bursts_, parts_.quota, context))
        co_return std::move(*refused);
    // A request past the day is a use of its key, too.
    parts_.uses.note(*context.owner, context.who.now);
    if (auto refused = co_await check_quota(parts_.quota, context))
        co_return std::move(*refused);
    co_return co_await perform(context);
}

// The checks of the request itself, and its operation: the one place where a caller's scopes and
// tag are judged.
awaitable<http::response> api_pipeline::perform(request_context& context)
{
    if (auto refused = check_request(context.request, context.target, context.who))
        co_return std::move(*refused);
    if (auto refused = co_await parts_.tags.check(context.request, context.who))
        co_return std::move(*refused);
    auto response = co_await call(context);
    response = co_await name_ended_inbox(std::move(response), context.request, context.who,
                                         parts_.inboxes);
    if (context.target.operation->method != "GET")
        co_return response;
    co_return co_await complete_read(std::move(response), context.who, clock_,
                                     parts_.response_memory,
                                     [this, &context] { return check_again(context); });
}

// The key may have been revoked or have expired meanwhile, or the inbox have lost the key's tag.
awaitable<refusal> api_pipeline::check_again(request_context& context)
{
    if (auto refused = co_await find_owner(parts_.keys, failures_, context))
        co_return refused;
    if (auto refused = check_plan(context))
        co_return refused;
    co_return co_await parts_.tags.check(context.request, context.who);
}

// For a response that outlives its request.
awaitable<bool> api_pipeline::is_still_good(passed_checks passed)
{
    const auto now = clock_.now();
    const auto found = co_await parts_.keys.find(std::move(passed.key_digest), lookups::all);
    if (!found || !found->owner || found->owner->access.has_expired(now))
        co_return false;
    const auto& limits = found->owner->account.limits_at(now);
    co_return limits.api_access && found->owner->position <= limits.api_keys;
}

// An operation that is called by another one.
awaitable<http::response> api_pipeline::perform_for(passed_checks passed, http::request& inner)
{
    request_context context(inner, operations_.find(inner), std::move(passed), clock_.now());
    context.identify(context.owner);
    context.who.quota = context.rate_limit;
    co_return co_await respond(perform(context), inner);
}

awaitable<http::response> api_pipeline::call(request_context& context)
{
    const auto& operation = *context.target.operation;
    context.who.add_to_burst = [this, &context](std::size_t count) {
        add_to_burst(bursts_, context, count);
    };
    if (operation.lasts)
        context.who.is_still_good = [this, passed = passed_checks(context)] {
            return is_still_good(passed);
        };
    if (operation.calls_others)
        context.who.call = [this, passed = passed_checks(context)](http::request& inner) {
            return perform_for(passed, inner);
        };
    if (!takes_idempotency_key(context.request, operation))
        co_return co_await operation.handle(context.request, context.who);
    auto response = co_await parts_.idempotency.handle(context.request, context.who, operation);
    // The response may be that of an earlier request, and its inbox without the key's tag by now.
    if (auto refused = co_await parts_.tags.check_created(response, context.who))
        co_return std::move(*refused);
    co_return response;
}

} // namespace tempinbox::gateway
