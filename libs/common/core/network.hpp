#pragma once

#include "common/core/errors.hpp"

#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox {

// A host name or address and a port; `text()` is `host:port`, `[v6]:port`.
struct host_port
{
    std::string host;
    std::uint16_t port = 0;

    static result<host_port> parse(std::string_view text);
    std::string text() const;
    friend bool operator==(const host_port&, const host_port&) = default;
};

// A CIDR block. IPv4-mapped IPv6 addresses are matched as their IPv4 address.
class network
{
public:
    // `10.0.0.0/8`, `::1/128`, or a lone address; host bits must be zero.
    static result<network> parse(std::string_view text);
    bool contains(const boost::asio::ip::address& address) const;
    std::string text() const;
    bool is_ipv6() const { return base_.is_v6(); }
    unsigned prefix_bits() const { return prefix_; }

private:
    boost::asio::ip::address base_;
    unsigned prefix_ = 0;
};

// The prefix an address is counted by: an IPv4 address, mapped or not, itself; an IPv6 address its
// /64, since one host has the whole of it.
std::string client_prefix(const boost::asio::ip::address& address);

bool contains(const std::vector<network>& networks, const boost::asio::ip::address& address);

} // namespace tempinbox
