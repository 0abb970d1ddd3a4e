#pragma once

#include "common/core/client_counts.hpp"
#include "common/core/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::http {

// Open connections by where they come from: an IPv4 address, or an IPv6 /64, /56 and /48
// (client_counts).
class address_counts
{
public:
    // `most` of one IPv4 address or /64, 0: any number; `uncounted` networks have any number.
    address_counts(std::size_t most, std::vector<network> uncounted)
        : most_(most),
          uncounted_(std::move(uncounted))
    {}

    // Why one more is too many; empty where it is not.
    std::string reason_to_refuse(const boost::asio::ip::address& peer) const;
    void enter(const boost::asio::ip::address& peer);
    void leave(const boost::asio::ip::address& peer);

private:
    bool is_counted(const boost::asio::ip::address& peer) const
    {
        return most_ > 0 && !contains(uncounted_, peer);
    }

    std::size_t most_;
    std::vector<network> uncounted_;
    client_counts open_;
};

} // namespace tempinbox::http
