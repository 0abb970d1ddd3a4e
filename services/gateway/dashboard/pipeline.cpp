#include "gateway/dashboard/pipeline.hpp"

#include "gateway/dashboard/errors.hpp"
#include "gateway/pipeline/ended_inbox.hpp"
#include "gateway/pipeline/request_checks.hpp"

namespace tempinbox::gateway {

dashboard_pipeline::dashboard_pipeline(const clock_source& clock,
                                       std::vector<route> open_operations,
                                       std::vector<route> operations, const dashboard_parts& parts,
                                       std::vector<network> trusted_proxies)
    : clock_(clock),
      open_operations_(std::move(open_operations)),
      operations_(std::move(operations)),
      parts_(parts),
      trusted_proxies_(std::move(trusted_proxies))
{}

bool dashboard_pipeline::serves(std::string_view path)
{
    return path == dashboard_api_root ||
           (path.starts_with(dashboard_api_root) && path[dashboard_api_root.size()] == '/');
}

refusal dashboard_pipeline::judge_header(http::request& received) const
{
    dashboard_context context(received, trusted_proxies_, clock_.now());
    auto refused = open_operations_.find(received).operation
                       ? check_origin(context, trusted_proxies_)
                       : read_session(context);
    if (refused)
        complete(*refused);
    return refused;
}

awaitable<http::response> dashboard_pipeline::handle(http::request& received)
{
    dashboard_context context(received, trusted_proxies_, clock_.now());
    auto response = co_await respond(run(context), received);
    complete(response);
    co_return response;
}

// What every response carries.
void dashboard_pipeline::complete(http::response& response)
{
    add_error_code(response);
    response.set("Cache-Control", "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
}

awaitable<http::response> dashboard_pipeline::run(dashboard_context& context)
{
    context.target = open_operations_.find(context.request);
    if (context.target.operation)
        co_return co_await run_open(context);
    if (auto refused = co_await check_session(context))
        co_return std::move(*refused);
    if (auto refused = check_csrf_token(context))
        co_return std::move(*refused);
    if (auto refused = check_session_burst(bursts_, context))
        co_return std::move(*refused);
    if (auto refused = co_await check_session_day(parts_.day, context))
        co_return std::move(*refused);
    context.target = operations_.find(context.request);
    if (auto refused = check_request(context.request, context.target, context.who))
        co_return std::move(*refused);
    context.who.quota = parts_.quota.last_known(context.who.state);
    auto response = co_await call(context);
    response = co_await name_ended_inbox(std::move(response), context.request, context.who,
                                         parts_.inboxes);
    if (context.target.operation->method != "GET")
        co_return response;
    co_return co_await complete_read(std::move(response), context.who, clock_,
                                     parts_.response_memory,
                                     [this, &context] { return check_session(context); });
}

awaitable<http::response> dashboard_pipeline::run_open(dashboard_context& context)
{
    if (auto refused = check_origin(context, trusted_proxies_))
        co_return std::move(*refused);
    if (auto refused = check_request(context.request, context.target, context.who))
        co_return std::move(*refused);
    co_return co_await context.target.operation->handle(context.request, context.who);
}

awaitable<refusal> dashboard_pipeline::check_session(dashboard_context& context)
{
    if (auto refused = read_session(context))
        co_return refused;
    co_return co_await find_account(parts_.sessions, failed_lookups_, context);
}

awaitable<http::response> dashboard_pipeline::call(dashboard_context& context)
{
    const auto& operation = *context.target.operation;
    if (takes_idempotency_key(context.request, operation))
        return parts_.idempotency.handle(context.request, context.who, operation);
    return operation.handle(context.request, context.who);
}

} // namespace tempinbox::gateway
