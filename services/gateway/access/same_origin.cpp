#include "gateway/access/same_origin.hpp"

#include "common/core/text.hpp"

namespace tempinbox::gateway {
namespace {

failure refused()
{
    return failure{errc::permission_denied,
                   "The request must come from the dashboard's own page: Sec-Fetch-Site must be "
                   "same-origin, or Origin this host",
                   error_reason::other_site};
}

// `https://mail.example:8443` names `mail.example:8443`; `null` names nothing.
std::string_view host_of_origin(std::string_view origin)
{
    const auto mark = origin.find("://");
    return mark == std::string_view::npos ? std::string_view() : origin.substr(mark + 3);
}

// The host that the browser requested: a trusted proxy may have put its own name into Host.
std::string_view requested_host(const http::request& received,
                                const std::vector<network>& trusted_proxies)
{
    const auto forwarded_host = received.header("X-Forwarded-Host");
    if (forwarded_host && contains(trusted_proxies, received.peer))
        return trim(forwarded_host->substr(0, forwarded_host->find(',')));
    return received.header("Host").value_or("");
}

} // namespace

result<void> check_same_origin(const http::request& received,
                               const std::vector<network>& trusted_proxies)
{
    if (const auto site = received.header("Sec-Fetch-Site")) {
        if (*site == "same-origin")
            return {};
        return refused();
    }
    const auto origin = received.header("Origin");
    const auto named = origin ? host_of_origin(*origin) : std::string_view();
    if (!named.empty() &&
        equals_ignoring_ascii_case(named, requested_host(received, trusted_proxies)))
        return {};
    return refused();
}

} // namespace tempinbox::gateway
