#include "gateway/mcp/entry.hpp"

#include "common/core/text.hpp"
#include "gateway/access/same_origin.hpp"

namespace tempinbox::gateway::mcp {
namespace {

// Of a Host header: without its port, brackets kept.
std::string_view host_name(std::string_view host)
{
    if (host.starts_with('['))
        return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.find(':'));
}

bool is_loopback_name(std::string_view name)
{
    return equals_ignoring_ascii_case(name, "localhost") || name == "[::1]" ||
           name.starts_with("127.");
}

// A page that a browser on this machine loaded from a name that its owner pointed at this machine:
// the browser takes both for one site.
bool is_rebound(const http::request& received, const std::vector<network>& trusted_proxies)
{
    return received.peer.is_loopback() && !contains(trusted_proxies, received.peer) &&
           !is_loopback_name(host_name(received.header("Host").value_or("")));
}

} // namespace

refusal check_entry(const http::request& received, const std::vector<network>& trusted_proxies)
{
    if (received.header("Origin") &&
        (!check_same_origin(received, trusted_proxies) || is_rebound(received, trusted_proxies)))
        return http::error_response(
            error_reason::other_site,
            "MCP is not open to pages of other sites: Origin must be absent or this host");
    if (received.method == "POST")
        return std::nullopt;
    auto refused = http::error_response(
        405, received.method + " is not supported here: every message of MCP is a POST");
    refused.set("Allow", "POST");
    return refused;
}

} // namespace tempinbox::gateway::mcp
