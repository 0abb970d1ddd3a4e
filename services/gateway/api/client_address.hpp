#pragma once

#include "common/core/network.hpp"
#include "common/http/message.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// The client's address: the peer, or behind trusted proxies the right-most entry of X-Forwarded-For
// that is not one of them.
boost::asio::ip::address client_address(const http::request& received,
                                        const std::vector<network>& trusted_proxies);

// The key by which a client is counted. IPv4 and IPv4-mapped addresses count by themselves, IPv6
// addresses by their /64, because one host commonly has a whole /64.
std::string client_prefix_key(const boost::asio::ip::address& address);

} // namespace tempinbox::gateway
