#pragma once

#include "gateway/mcp/json_rpc.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tempinbox::gateway::mcp {

// The revisions of MCP that are spoken here, the newest first. From 2026-07-28 on each request says
// in `_meta` and in headers what it is; those before have a handshake (`initialize`), which is
// answered and remembered by nobody. Here they differ in nothing else: clients pass over members of
// a result that are newer than they are.
std::span<const std::string_view> revisions();
bool is_stateless(std::string_view revision);

// The headers that say what is in the body.
struct message_headers
{
    std::optional<std::string> version; // MCP-Protocol-Version
    std::optional<std::string> method;  // Mcp-Method
    std::optional<std::string> name;    // Mcp-Name
};

// The revision that a message is read by. The error says which header or field is wrong.
struct revision_reading
{
    std::string_view revision; // empty: error
    rpc_error error;
};
revision_reading find_revision(const rpc_message& message, const message_headers& headers);

// What `initialize` is answered with: the client's revision if it is one with a handshake, else the
// newest such.
std::string_view negotiate(const std::optional<json::value>& params);

} // namespace tempinbox::gateway::mcp
