#include "gateway/pipeline/request_checks.hpp"

#include "common/core/text.hpp"
#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr std::chrono::milliseconds recheck_after{100};

// The media type without its parameters (RFC 9110 8.3.1).
bool is_taken(std::string_view content_type, body_kind expected)
{
    const auto type = trim(content_type.substr(0, content_type.find(';')));
    return equals_ignoring_ascii_case(type, "application/json") ||
           (expected == body_kind::merge_patch &&
            equals_ignoring_ascii_case(type, "application/merge-patch+json"));
}

// 404 for the path, then 405 for the method.
refusal check_route(http::request& received, const routes::match& target, const caller&)
{
    received.route = target.path.pattern;
    if (!target.operation)
        return http::not_routed(target.path, received);
    received.path_params = target.path.params;
    return std::nullopt;
}

// The specification's 403 is about the plan, so this one has a text of its own.
std::string scope_message(const required_scope& scope, const accounts::key_access& access)
{
    if (!scope.needed())
        return "This operation is not for API keys that are restricted";
    const std::string needed(accounts::to_string(*scope.needed()));
    const auto text = "This operation needs an API key with the scope " + needed;
    if (access.tag && accounts::is_of_webhooks(*scope.needed()))
        return text + ", which a key with a tag cannot have";
    return text + "; this key has " + join_list(access.allowed().names());
}

refusal check_scope(http::request&, const routes::match& target, const caller& who)
{
    const auto& scope = target.operation->scope;
    if (scope.is_met(who.access))
        return std::nullopt;
    return http::error_response(error_reason::scope_required, scope_message(scope, who.access));
}

refusal check_size(http::request& received, const routes::match&, const caller&)
{
    if (!received.body_too_large)
        return std::nullopt;
    return http::error_response(413, "The body is larger than 64 KiB");
}

refusal check_headers(http::request& received, const routes::match&, const caller&)
{
    for (const auto name : {"Content-Type", "Content-Encoding", "Idempotency-Key"})
        if (is_given_twice(received, name))
            return http::error_response(400,
                                        "Header " + std::string(name) + " is given more than once");
    return std::nullopt;
}

refusal check_type(http::request& received, const routes::match& target, const caller&)
{
    const auto expected = target.operation->body;
    if (expected == body_kind::none || received.body.empty())
        return std::nullopt;
    const auto coding = received.header("Content-Encoding");
    if (coding && !equals_ignoring_ascii_case(trim(*coding), "identity"))
        return http::error_response(415, "Content-Encoding must be absent, not " + quote(*coding));
    const auto type = received.header("Content-Type");
    if (type && is_taken(*type, expected))
        return std::nullopt;
    const std::string allowed = expected == body_kind::merge_patch
                                    ? "application/json or application/merge-patch+json"
                                    : "application/json";
    auto refused = http::error_response(415, "Content-Type must be " + allowed + ", not " +
                                                 (type ? quote(*type) : "absent"));
    if (expected == body_kind::merge_patch)
        refused.set("Accept-Patch",
                    "application/json, application/merge-patch+json"); // RFC 5789 2.2
    return refused;
}

refusal check_target(http::request& received, const routes::match&, const caller&)
{
    if (received.target_error.empty())
        return std::nullopt;
    return http::error_response(400, received.target_error);
}

http::response unavailable_response(const http::request& received, std::string_view error)
{
    log::error("request failed: a dependency is unavailable", {{"request_id", received.id},
                                                               {"method", received.method},
                                                               {"path", received.path},
                                                               {"error", error}});
    auto response = http::error_response(503, "The service cannot answer now; try again");
    response.set("Retry-After", 1);
    return response;
}

http::response internal_error_response(const http::request& received, std::string_view error)
{
    log::error("request failed", {{"request_id", received.id},
                                  {"method", received.method},
                                  {"path", received.path},
                                  {"error", error}});
    return http::error_response(500, "The service failed to answer; the request is noted as " +
                                         received.id);
}

} // namespace

refusal check_request(http::request& received, const routes::match& target, const caller& who)
{
    for (const auto check :
         {check_route, check_scope, check_size, check_headers, check_type, check_target})
        if (auto refused = check(received, target, who))
            return refused;
    return std::nullopt;
}

bool is_given_twice(const http::request& received, std::string_view header)
{
    return std::count_if(received.headers.begin(), received.headers.end(),
                         [header](const auto& field) {
                             return equals_ignoring_ascii_case(field.first, header);
                         }) > 1;
}

awaitable<http::response> respond(awaitable<http::response> operation,
                                  const http::request& received)
{
    // Here and not in the HTTP session, because the pipelines add their headers to these responses.
    try {
        co_return co_await std::move(operation);
    } catch (const dependency_error& error) {
        co_return unavailable_response(received, error.what());
    } catch (const std::exception& error) {
        co_return internal_error_response(received, error.what());
    }
}

awaitable<http::response> complete_read(http::response response, caller& who,
                                        const clock_source& clock, response_budget& memory,
                                        std::function<awaitable<refusal>()> check_again)
{
    response = reserve_response(std::move(response), who.account(), memory);
    if (clock.now() - who.now < recheck_after)
        co_return response;
    who.now = clock.now();
    if (auto refused = co_await check_again())
        co_return std::move(*refused);
    co_return response;
}

} // namespace tempinbox::gateway
