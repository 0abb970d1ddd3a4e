#pragma once

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <string>
#include <unordered_map>

namespace tempinbox {

// Counts something, such as connections, by client: by IPv4 address, and by the /64, /56 and /48 of
// an IPv6 address, since the holder of a /56 or a /48 has hundreds or thousands of /64s. At most
// three entries for each thing counted.
class client_counter
{
public:
    using address = boost::asio::ip::address;

    struct full_prefix
    {
        unsigned bits = 0; // 32 for an IPv4 address; 64, 56 or 48 of IPv6
        std::size_t max = 0;
    };

    // The narrowest prefix of `who` that is full: at `max` for an IPv4 address or a /64, at three
    // times as many for a /56, at six times for a /48. Absent if there is room for one more.
    std::optional<full_prefix> find_full(const address& who, std::size_t max) const;
    void enter(const address& who);
    void leave(const address& who);

private:
    std::unordered_map<std::string, std::size_t> counts_;
};

} // namespace tempinbox
