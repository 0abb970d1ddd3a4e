#pragma once

#include "common/core/network.hpp"
#include "common/http/message.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// Who is at the other end: the peer, or behind trusted proxies the right-most entry of
// X-Forwarded-For that is not one of them.
boost::asio::ip::address client_address(const http::request& received,
                                        const std::vector<network>& trusted_proxies);

// By what a client is counted: IPv4 and IPv4-mapped addresses by themselves, IPv6 by /64: a host is
// commonly given a whole one.
std::string client_prefix_key(const boost::asio::ip::address& address);

} // namespace tempinbox::gateway
