#include "gateway/pipeline/client_address.hpp"

#include "common/core/text.hpp"

namespace tempinbox::gateway {
namespace {

// `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1`, `[2001:db8::1]:8080`.
std::optional<boost::asio::ip::address> parse_entry(std::string_view entry)
{
    boost::system::error_code error;
    auto whole = boost::asio::ip::make_address(std::string(entry), error);
    if (!error)
        return whole;
    const auto with_port = host_port::parse(entry);
    if (!with_port)
        return std::nullopt;
    const auto host = boost::asio::ip::make_address(with_port->host, error);
    return error ? std::nullopt : std::optional(host);
}

} // namespace

boost::asio::ip::address client_address(const http::request& received,
                                        const std::vector<network>& trusted_proxies)
{
    auto address = received.peer;
    if (!contains(trusted_proxies, address))
        return address;
    // Several fields of the name are one list (RFC 9110 5.3).
    std::vector<std::string> entries;
    for (const auto& [name, value] : received.headers)
        if (equals_ignoring_ascii_case(name, "X-Forwarded-For"))
            for (auto& entry : split_list(value))
                entries.push_back(std::move(entry));
    // Each entry was written by the proxy to its right. The walk from the right ends at the first
    // entry that is not a trusted proxy or cannot be parsed.
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        const auto parsed = parse_entry(*entry);
        if (!parsed)
            break;
        address = *parsed;
        if (!contains(trusted_proxies, address))
            break;
    }
    return address;
}

} // namespace tempinbox::gateway
