#pragma once

#include "common/json/value.hpp"
#include "common/json/writer.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::gateway::mcp {

// Codes of JSON-RPC 2.0 (5.1), and those that MCP defines (2026-07-28, "Error Codes").
namespace rpc_code {
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int header_mismatch = -32020;
constexpr int unsupported_version = -32022;
} // namespace rpc_code

// One message of JSON-RPC 2.0 from a client.
struct rpc_message
{
    enum class kind { request, notification, response };

    kind is = kind::request;
    // Of a request: a string or an integer, as JSON.
    std::string id;
    std::string method;
    // An object; absent if the message has none.
    std::optional<json::value> params;
};

// Why a message is refused. `data` is JSON, or empty.
struct rpc_error
{
    int code = rpc_code::invalid_request;
    std::string message;
    std::string data;
    unsigned status = 400; // of HTTP, where the revision gives errors one
    // Of the request, where it could be read.
    std::string id;
};

// A message or an error; exactly one of them.
struct rpc_reading
{
    std::optional<rpc_message> message;
    rpc_error error;
};

// Reads one message; a batch is refused, as in every revision since 2025-06-18. Those before let
// clients send batches, which none of the official ones does by itself. Accepts any bytes.
rpc_reading read_message(std::string_view body);

// The response with a result, which is JSON.
std::string result_message(std::string_view id, std::string_view result);
// The response with an error. Without an id where the request has none that could be read.
std::string error_message(const rpc_error& error);
// A notification; `params` is JSON.
std::string notification_message(std::string_view method, std::string_view params);

} // namespace tempinbox::gateway::mcp
