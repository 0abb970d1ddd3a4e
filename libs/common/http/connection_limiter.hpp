#pragma once

#include "common/core/client_counter.hpp"
#include "common/core/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::http {

// Counts open connections by origin: an IPv4 address, or an IPv6 /64, /56 and /48 (client_counter).
class connection_limiter
{
public:
    // At most `max_per_prefix` from one IPv4 address or /64, 0: any number; `uncounted` networks
    // may have any number.
    connection_limiter(std::size_t max_per_prefix, std::vector<network> uncounted)
        : max_per_prefix_(max_per_prefix),
          uncounted_(std::move(uncounted))
    {}

    // Why one more connection is refused; empty if it is not.
    std::string reason_to_refuse(const boost::asio::ip::address& peer) const;
    void enter(const boost::asio::ip::address& peer);
    void leave(const boost::asio::ip::address& peer);

private:
    bool is_counted(const boost::asio::ip::address& peer) const
    {
        return max_per_prefix_ > 0 && !contains(uncounted_, peer);
    }

    std::size_t max_per_prefix_;
    std::vector<network> uncounted_;
    client_counter open_;
};

} // namespace tempinbox::http
