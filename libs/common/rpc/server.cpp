#include "common/rpc/server.hpp"

#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "common/log/log.hpp"
#include "common/rpc/codes.hpp"

#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

constexpr std::string_view proto_type = "application/proto";
constexpr std::string_view json_type = "application/json";
// Connect protocol: a timeout has at most ten digits.
constexpr std::size_t max_timeout_digits = 10;

http::server_settings for_rpc(http::server_settings settings)
{
    if (settings.body_limit == http::server_settings().body_limit)
        settings.body_limit = 1024 * 1024;
    settings.tracing = http::trace_mode::internal;
    return settings;
}

http::response error_response(unsigned status, std::string_view code, std::string_view message)
{
    json::writer body;
    body.begin_object().member("code", code).member("message", message).end_object();
    return http::response(status, json_type, body.take());
}

http::response error_response(const failure& reason)
{
    return error_response(connect_http_status(reason.code), connect_code(reason.code),
                          reason.message);
}

// The media type without its parameters.
std::string_view media_type(const http::request& received)
{
    const auto given = received.header("Content-Type").value_or(std::string_view());
    return trim(given.substr(0, given.find(';')));
}

std::string_view bearer_token(const http::request& received)
{
    constexpr std::string_view scheme = "Bearer ";
    const auto given = received.header("Authorization").value_or(std::string_view());
    if (given.size() <= scheme.size() ||
        !equals_ignoring_ascii_case(given.substr(0, scheme.size()), scheme))
        return {};
    return trim(given.substr(scheme.size()));
}

bool is_timeout(std::string_view text)
{
    return !text.empty() && text.size() <= max_timeout_digits &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// nullopt if the body was read; else why not.
std::optional<std::string> read_body(const std::string& body, bool is_json,
                                     google::protobuf::Message& message)
{
    if (!is_json) {
        if (message.ParseFromString(body))
            return std::nullopt;
        return "the body is no " + message.GetTypeName();
    }
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = false;
    const auto read =
        google::protobuf::util::JsonStringToMessage(body.empty() ? "{}" : body, &message, options);
    if (read.ok())
        return std::nullopt;
    return "the body is no " + message.GetTypeName() + ": " + std::string(read.message());
}

http::response write_body(const google::protobuf::Message& message, bool is_json)
{
    if (!is_json)
        return http::response(200, proto_type, message.SerializeAsString());
    std::string text;
    const auto written = google::protobuf::util::MessageToJsonString(message, &text);
    if (!written.ok())
        throw std::runtime_error("cannot write " + message.GetTypeName() +
                                 " as JSON: " + std::string(written.message()));
    return http::response(200, json_type, std::move(text));
}

awaitable<http::response> respond_with(http::response answer)
{
    co_return answer;
}

// Without a valid token the body is not even read.
http::server_hooks requiring_token(tokens& accepted)
{
    http::server_hooks hooks;
    hooks.judge_header =
        [&accepted](const http::request& received) -> std::optional<http::response> {
        if (accepted.accepts(bearer_token(received)))
            return std::nullopt;
        return error_response(failure{errc::unauthenticated,
                                      "the call needs Authorization: Bearer with a valid token"});
    };
    return hooks;
}

} // namespace

server::server(runtime::host& host, http::server_settings settings, tokens& accepted)
    : http_(
          host, for_rpc(std::move(settings)),
          [this](http::request& received) { return handle(received); }, requiring_token(accepted))
{}

void server::add_raw(const std::string& method,
                     std::unique_ptr<google::protobuf::Message> prototype, raw_handler handle)
{
    methods_["/" + method] = method_entry{std::move(prototype), std::move(handle)};
}

void server::start()
{
    http_.start();
}

awaitable<http::response> server::handle(http::request& received)
{
    const auto found = methods_.find(received.path);
    if (found == methods_.end())
        return respond_with(
            error_response(404, "unimplemented", "no such method: " + quote(received.path)));
    received.route = found->first;
    if (received.method != "POST") {
        auto refusal = error_response(405, "unimplemented", "a call is a POST");
        refusal.set("Allow", "POST");
        return respond_with(std::move(refusal));
    }
    const auto type = media_type(received);
    const bool is_json = equals_ignoring_ascii_case(type, json_type);
    if (!is_json && !equals_ignoring_ascii_case(type, proto_type)) {
        auto refusal = error_response(
            415, "invalid_argument",
            "the body must be application/proto or application/json, not " + quote(type));
        refusal.set("Accept-Post", "application/proto, application/json");
        return respond_with(std::move(refusal));
    }
    const auto encoding = received.header("Content-Encoding").value_or("identity");
    if (!equals_ignoring_ascii_case(encoding, "identity")) {
        auto refusal = error_response(415, "unimplemented",
                                      "a body must not be compressed: " + quote(encoding));
        refusal.set("Accept-Encoding", "identity");
        return respond_with(std::move(refusal));
    }
    if (const auto timeout = received.header("Connect-Timeout-Ms");
        timeout && !is_timeout(*timeout))
        return respond_with(error_response(
            failure{errc::invalid_argument, "Connect-Timeout-Ms must be up to ten digits"}));
    if (received.body_too_large)
        return respond_with(
            error_response(failure{errc::payload_too_large, "the body is too large"}));
    return invoke(found->second, received, is_json);
}

awaitable<http::response> server::invoke(const method_entry& method, http::request& received,
                                         bool is_json)
{
    const std::unique_ptr<google::protobuf::Message> request(method.prototype->New());
    if (const auto body_error = read_body(received.body, is_json, *request))
        co_return error_response(failure(errc::invalid_argument, *body_error));
    received.body = std::string();

    std::string error;
    bool is_dependency = false;
    try {
        const raw_result outcome = co_await method.handle(*request);
        if (!outcome)
            co_return error_response(outcome.error());
        co_return write_body(**outcome, is_json);
    } catch (const dependency_error& lost) {
        // As in the HTTP session, but a caller by RPC gets a Connect code.
        is_dependency = true;
        error = lost.what();
    } catch (const std::exception& bug) {
        error = bug.what();
    }
    log::write(is_dependency ? log::level::warning : log::level::error,
               is_dependency ? "a dependency did not answer" : "a call failed",
               {{"request_id", received.id}, {"http_route", received.route}, {"error", error}});
    if (is_dependency)
        co_return error_response(
            failure(errc::unavailable, "a part of the service cannot be reached"));
    co_return error_response(
        failure(errc::internal, "the call failed; the request id names this case"));
}

} // namespace tempinbox::rpc
