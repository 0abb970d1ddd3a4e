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

} // namespace tempinbox::gateway
