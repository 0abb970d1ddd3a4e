#pragma once

#include "common/core/network.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace tempinbox::smtp {

// The ports for balancers, which send a PROXY header ahead of each connection.
struct proxy_settings
{
    std::vector<host_port> listen; // of mail without login; empty: there is none
    std::vector<host_port> submission_listen;
    std::vector<host_port> submissions_listen;
    std::vector<network> networks; // of the balancers; nobody else's header is read
    // From connect to the end of the header.
    std::chrono::milliseconds header_timeout{5'000};
    // Connections whose header has not come; past it the oldest of them is closed.
    std::size_t max_waiting = 256;
};

} // namespace tempinbox::smtp
