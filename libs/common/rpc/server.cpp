#include "common/rpc/server.hpp"

#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "common/log/log.hpp"
#include "common/rpc/codes.hpp"

#include <google/protobuf/util/json_util.h>

namespace tempinbox::rpc {
namespace {

constexpr std::string_view proto_type = "application/proto";
constexpr std::string_view json_type = "application/json";

// Connect protocol, "Error end-stream / unary error body": {"code","message"}
http::response error_response(unsigned status, std::string_view code, std::string_view message)
{
    json::writer body;
    body.begin_object().member("code", code).member("message", message).end_object();
    return http::response(status, json_type, body.take());
}

http::response error_response(const failure& reason)
{
    return error_response(connect_http_status(reason.code), connect_code(reason.code), reason.message);
}

std::string_view media_type(const http::request& received)
{
    const auto type = received.header("Content-Type").value_or("");
    return trim(type.substr(0, type.find(';')));
}

std::string_view bearer_token(const http::request& received)
{
    const auto value = received.header("Authorization").value_or("");
    constexpr std::string_view scheme = "bearer ";
    if (value.size() <= scheme.size() || !equals_ignoring_ascii_case(value.substr(0, scheme.size()), scheme))
        return {};
    return trim(value.substr(scheme.size()));
}

result<void> read_message(const http::request& received, bool is_json, google::protobuf::Message& message)
{
    if (!is_json) {
        if (!message.ParseFromString(received.body))
            return failure{errc::invalid_argument, "the body is no " + message.GetDescriptor()->full_name()};
        return {};
    }
    const auto status = google::protobuf::util::JsonStringToMessage(received.body.empty() ? "{}" : received.body, &message);
    if (!status.ok())
        return failure{errc::invalid_argument, "the body is no " + message.GetDescriptor()->full_name() + ": " + std::string(status.message())};
    return {};
}

http::response write_message(const google::protobuf::Message& message, bool is_json)
{
    if (!is_json)
        return http::response(200, proto_type, message.SerializeAsString());
    std::string text;
    google::protobuf::util::JsonPrintOptions options;
    options.always_print_primitive_fields = true;
    const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
    if (!status.ok())
        return error_response(failure{errc::internal, "the answer cannot be written as JSON"});
    return http::response(200, json_type, std::move(text));
}

} // namespace

server::server(runtime::host& host, http::server_settings settings, tokens& accepted)
    : host_(host), tokens_(accepted), http_(host, std::move(settings), [this](http::request& received) { return handle(received); })
{
}

void server::add_raw(const std::string& method, std::unique_ptr<google::protobuf::Message> prototype, raw_handler handle)
{
    methods_["/" + method] = method_entry{std::move(prototype), std::move(handle)};
}

void server::start()
{
    http_.start();
}

awaitable<http::response> server::handle(http::request& received)
{
    if (!tokens_.accepts(bearer_token(received)))
        co_return error_response(failure{errc::unauthenticated, "Authorization must be `Bearer` and a valid token"});
    const auto found = methods_.find(received.path);
    if (found == methods_.end())
        co_return error_response(404, "unimplemented", "no such method: " + quote(received.path));
    received.route = found->first;
    if (received.method != "POST") {
        auto refused = error_response(405, "unimplemented", "only POST is served");
        refused.set("Allow", "POST");
        co_return refused;
    }
    const auto type = media_type(received);
    const bool is_json = equals_ignoring_ascii_case(type, json_type);
    if (!is_json && !equals_ignoring_ascii_case(type, proto_type)) {
        auto refused = error_response(415, "unknown", "Content-Type must be application/proto or application/json, not " + quote(type));
        refused.set("Accept-Post", "application/json, application/proto");
        co_return refused;
    }
    if (received.body_too_large)
        co_return error_response(413, "resource_exhausted", "the body is too large");

    const std::unique_ptr<google::protobuf::Message> message(found->second.prototype->New());
    const auto read = read_message(received, is_json, *message);
    if (!read)
        co_return error_response(read.error());

    answer outcome = failure{};
    std::string unavailable, broken;
    try {
        outcome = co_await found->second.handle(*message);
    } catch (const dependency_error& error) {
        unavailable = error.what();
    } catch (const std::exception& error) {
        broken = error.what();
        if (broken.empty())
            broken = "unknown error";
    }
    if (!unavailable.empty()) {
        log::warning("call not answered: a dependency is away", {{"method", found->first}, {"request_id", received.id}, {"reason", unavailable}});
        co_return error_response(failure{errc::unavailable, "cannot answer right now; try again in a moment"});
    }
    if (!broken.empty()) {
        log::error("call failed", {{"method", found->first}, {"request_id", received.id}, {"reason", broken}});
        co_return error_response(failure{errc::internal, "internal error; the log has more under request " + received.id});
    }
    if (!outcome)
        co_return error_response(outcome.error());
    co_return write_message(**outcome, is_json);
}

} // namespace tempinbox::rpc
