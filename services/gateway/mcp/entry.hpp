#pragma once

#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway::mcp {

// What is checked at /mcp before the key. It is for programs: a page of another site gets 403, also
// one that made its own name resolve to this machine (DNS rebinding). Only POST is taken, since no
// stream outlives its request: all else is 405 and costs nothing.
refusal check_entry(const http::request& received, const std::vector<network>& trusted_proxies);

} // namespace tempinbox::gateway::mcp
