#include "gateway/mcp/json_rpc.hpp"

#include "common/core/text.hpp"

namespace tempinbox::gateway::mcp {
namespace {

// An id longer than this is nobody's: it is repeated in the response.
constexpr std::size_t max_id_length = 200;
constexpr std::size_t max_method_length = 100;

rpc_reading refuse(int code, std::string message, std::string id = {})
{
    rpc_reading reading;
    reading.error.code = code;
    reading.error.message = std::move(message);
    reading.error.id = std::move(id);
    return reading;
}

// JSON-RPC 4: a string or a number; MCP takes integers only, and no null.
std::optional<std::string> read_id(const json::value& message)
{
    const auto id = message.find("id");
    if (!id || !(id->is_integer() || (id->is_string() && id->text().size() <= max_id_length)))
        return std::nullopt;
    return id->to_string();
}

bool is_response(const json::value& message)
{
    return !message.find("method") && (message.find("result") || message.find("error"));
}

} // namespace

rpc_reading read_message(std::string_view body)
{
    const auto parsed = json::value::parse(body);
    if (!parsed)
        return refuse(rpc_code::parse_error, parsed.error().message);
    if (parsed->is_array())
        return refuse(rpc_code::invalid_request,
                      "Batches are not supported: send each message in a POST of its own");
    if (!parsed->is_object())
        return refuse(rpc_code::invalid_request, "The body must be a JSON-RPC message, an object, "
                                                 "not " +
                                                     std::string(parsed->kind()));
    const auto id = read_id(*parsed);
    const auto version = parsed->find("jsonrpc");
    if (!version || !version->is_string() || version->text() != "2.0")
        return refuse(rpc_code::invalid_request, "jsonrpc must be \"2.0\"", id.value_or(""));
    rpc_reading reading;
    reading.message.emplace();
    auto& message = *reading.message;
    if (is_response(*parsed)) {
        message.is = rpc_message::kind::response;
        return reading;
    }
    const auto method = parsed->find("method");
    if (!method || !method->is_string() || method->text().empty() ||
        method->text().size() > max_method_length)
        return refuse(rpc_code::invalid_request,
                      "method must be a string of 1 to 100 characters, such as \"tools/list\"",
                      id.value_or(""));
    message.method = method->text();
    if (!id && parsed->find("id"))
        return refuse(rpc_code::invalid_request,
                      "id must be an integer or a string of at most 200 bytes");
    if (id)
        message.id = *id;
    else
        message.is = rpc_message::kind::notification;
    message.params = parsed->find("params");
    if (message.params && message.params->is_null())
        message.params.reset();
    if (message.params && !message.params->is_object())
        return refuse(rpc_code::invalid_params,
                      "params must be an object, not " + std::string(message.params->kind()),
                      message.id);
    return reading;
}

std::string result_message(std::string_view id, std::string_view result)
{
    json::writer out;
    out.begin_object().member("jsonrpc", "2.0");
    out.key("id").raw(id);
    out.key("result").raw(result);
    out.end_object();
    return out.take();
}

std::string error_message(const rpc_error& error)
{
    json::writer out;
    out.begin_object().member("jsonrpc", "2.0");
    if (!error.id.empty())
        out.key("id").raw(error.id);
    out.key("error").begin_object();
    out.member("code", error.code).member("message", error.message);
    if (!error.data.empty())
        out.key("data").raw(error.data);
    out.end_object().end_object();
    return out.take();
}

std::string notification_message(std::string_view method, std::string_view params)
{
    json::writer out;
    out.begin_object().member("jsonrpc", "2.0").member("method", method);
    out.key("params").raw(params);
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway::mcp
