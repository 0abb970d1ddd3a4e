#pragma once

#include "common/core/network.hpp"

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox {

// Limits one thing, such as connections, by client: by IPv4 address, and by the /64, /56 and /48 of
// an IPv6 address, since the holder of a /56 or a /48 has hundreds or thousands of /64s. At most
// three entries for each thing counted; clients of exempt networks are not counted. All that SMTP
// limits by client is in smtp::client_limiter, which has one of these.
class client_limiter
{
public:
    using address = boost::asio::ip::address;

    // The prefix that is full.
    struct full_prefix
    {
        unsigned bits = 0; // 32 for an IPv4 address; 64, 56 or 48 of IPv6
        std::size_t max = 0;

        // For messages: "this address", "this address's /56".
        std::string name() const;
    };

    // `max`: of an IPv4 address or a /64; 0: any number.
    explicit client_limiter(std::size_t max, std::vector<network> exempt = {})
        : max_(max),
          exempt_(std::move(exempt))
    {}

    bool is_exempt(const address& who) const { return contains(exempt_, who); }
    // The narrowest prefix of `who` that is full: at the limit for an IPv4 address or a /64, at
    // three times as many for a /56, at six times for a /48. Absent if there is room for one more.
    std::optional<full_prefix> find_full(const address& who) const { return find_full(who, max_); }
    // With a limit of its own for this client, 0: any number.
    std::optional<full_prefix> find_full(const address& who, std::size_t max) const;
    void enter(const address& who);
    void leave(const address& who);

private:
    std::size_t max_;
    std::vector<network> exempt_;
    std::unordered_map<std::string, std::size_t> counts_; // by client_prefix and shorter ones
};

} // namespace tempinbox
