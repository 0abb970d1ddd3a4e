#pragma once

#include "common/core/network.hpp"
#include "common/http/message.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

inline constexpr std::string_view mcp_path = "/mcp";

inline bool is_mcp(const http::request& received)
{
    return received.path == mcp_path;
}

// What is checked at /mcp before the key. It is for programs: a page of another site gets 403, also
// one that made its own name resolve to this machine (DNS rebinding). Only POST is taken, since no
// stream outlives its request: all else is 405 and costs nothing.
std::optional<http::response> check_mcp_entry(const http::request& received,
                                              const std::vector<network>& trusted_proxies);

} // namespace tempinbox::gateway
