#pragma once

#include "common/core/network.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::http {

// Open connections by the IPv4 address or IPv6 /64 they come from; as many entries as there are connections at most.
class address_counts
{
public:
    // `most` of one address, 0: any number; `uncounted` networks have any number.
    address_counts(std::size_t most, std::vector<network> uncounted) : most_(most), uncounted_(std::move(uncounted)) {}

    std::size_t most() const { return most_; }
    bool is_at_limit(const boost::asio::ip::address& peer) const;
    void enter(const boost::asio::ip::address& peer);
    void leave(const boost::asio::ip::address& peer);

private:
    bool is_counted(const boost::asio::ip::address& peer) const { return most_ > 0 && !contains(uncounted_, peer); }

    std::size_t most_;
    std::vector<network> uncounted_;
    std::unordered_map<std::string, std::size_t> open_;
};

} // namespace tempinbox::http
