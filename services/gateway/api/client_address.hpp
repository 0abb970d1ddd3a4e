#pragma once

#include "common/core/network.hpp"
#include "common/http/message.hpp"

namespace tempinbox::gateway {

// Who is at the other end: the peer, or behind trusted proxies the right-most entry of X-Forwarded-For that is not one of them.
boost::asio::ip::address client_address(const http::request& received, const std::vector<network>& trusted_proxies);

} // namespace tempinbox::gateway
