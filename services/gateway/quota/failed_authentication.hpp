#pragma once

#include "gateway/quota/numbers.hpp"

#include <boost/asio/ip/address.hpp>

#include <string>
#include <unordered_map>

namespace tempinbox::gateway {

// How often an address may fail to authenticate, or have something looked up that is not there: 60
// times a minute on this replica. IPv6 addresses count by their /64. Bounded: past 100,000
// addresses in a minute the rest share one allowance.
class failed_authentication
{
public:
    static constexpr std::int64_t allowance = 60;

    struct outcome
    {
        bool is_within = true;
        quota_numbers numbers;
    };

    outcome note(const boost::asio::ip::address& address, time_point now);
    // Without counting anything.
    quota_numbers numbers(const boost::asio::ip::address& address, time_point now);
    bool has_allowance(const boost::asio::ip::address& address, time_point now)
    {
        return numbers(address, now).remaining > 0;
    }

private:
    void start_minute(time_point now);
    quota_numbers numbers_of(std::int64_t failures) const;

    std::int64_t minute_ = 0;
    std::unordered_map<std::string, std::int64_t> failures_;
};

} // namespace tempinbox::gateway
