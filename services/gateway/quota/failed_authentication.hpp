#pragma once

#include "gateway/quota/rate_limit_fields.hpp"

#include <boost/asio/ip/address.hpp>

#include <string>
#include <unordered_map>

namespace tempinbox::gateway {

// Counts how often an address fails to authenticate, or has something looked up that does not
// exist: 60 times a minute are allowed on this replica. IPv6 addresses count by their /64. Bounded:
// past 100,000 addresses in a minute the rest share one allowance.
class failed_authentication
{
public:
    static constexpr std::int64_t allowance = 60;

    struct decision
    {
        bool is_within = true;
        rate_limit_headers rate_limit;
    };

    decision note(const boost::asio::ip::address& address, time_point now);
    // The same without counting a failure.
    rate_limit_headers rate_limit(const boost::asio::ip::address& address, time_point now);
    bool has_allowance(const boost::asio::ip::address& address, time_point now)
    {
        return rate_limit(address, now).remaining > 0;
    }

private:
    void start_minute(time_point now);
    rate_limit_headers rate_limit_of(std::int64_t failures) const;

    std::int64_t minute_ = 0;
    std::unordered_map<std::string, std::int64_t> failures_;
};

} // namespace tempinbox::gateway
