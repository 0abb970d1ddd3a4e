#pragma once

#include "common/core/network.hpp"

#include <boost/asio/ip/address.hpp>

#include <vector>

namespace tempinbox::webhooks {

// Whether an address is an ordinary host of the public internet: not private, loopback, link-local,
// shared, multicast, documentation or reserved, nor an IPv6 form that hides such an IPv4 address.
bool is_public(const boost::asio::ip::address& address);

// Which addresses webhooks may go to: public ones that are not the operator's own, and what the
// operator lists.
class address_policy
{
public:
    address_policy() = default;
    address_policy(std::vector<network> allowed, std::vector<network> denied)
        : allowed_(std::move(allowed)),
          denied_(std::move(denied))
    {}

    bool allows(const boost::asio::ip::address& address) const;

private:
    std::vector<network> allowed_;
    std::vector<network> denied_;
};

} // namespace tempinbox::webhooks
