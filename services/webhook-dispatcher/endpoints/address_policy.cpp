#include "webhook-dispatcher/endpoints/address_policy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tempinbox::webhooks {
namespace {

namespace ip = boost::asio::ip;

std::vector<network> read_networks(std::initializer_list<const char*> texts)
{
    std::vector<network> networks;
    for (const char* text : texts)
        networks.push_back(network::parse(text).value());
    return networks;
}

// IANA's special-purpose registry of IPv4, multicast and reserved space.
const std::vector<network>& special_v4()
{
    static const auto networks = read_networks(
        {"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
         "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
         "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"});
    return networks;
}

// Inside global unicast, but not hosts: Teredo, ORCHID, benchmarking and other protocol
// assignments, documentation, 6to4.
const std::vector<network>& special_v6()
{
    static const auto networks =
        read_networks({"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"});
    return networks;
}

const network& global_unicast()
{
    static const network block = network::parse("2000::/3").value();
    return block;
}

bool is_public_v4(const ip::address_v4& address)
{
    return !contains(special_v4(), ip::address(address));
}

ip::address_v4 last_four_bytes(const ip::address_v6& address)
{
    const auto bytes = address.to_bytes();
    return ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

// RFC 6052 2.1: the well-known prefix 64:ff9b::/96.
bool is_nat64(const ip::address_v6& address)
{
    constexpr std::array<std::uint8_t, 12> prefix{0, 0x64, 0xff, 0x9b};
    const auto bytes = address.to_bytes();
    return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool is_public_v6(const ip::address_v6& address)
{
    if (address.scope_id() != 0)
        return false;
    if (address.is_v4_mapped() || is_nat64(address))
        return is_public_v4(last_four_bytes(address));
    const ip::address judged(address);
    return global_unicast().contains(judged) && !contains(special_v6(), judged);
}

} // namespace

bool is_public(const ip::address& address)
{
    return address.is_v4() ? is_public_v4(address.to_v4()) : is_public_v6(address.to_v6());
}

bool address_policy::allows(const ip::address& address) const
{
    if (contains(denied_, address))
        return false;
    // An operator's own network stays its own behind a translator.
    if (address.is_v6() && is_nat64(address.to_v6()) &&
        contains(denied_, ip::address(last_four_bytes(address.to_v6()))))
        return false;
    return is_public(address) || contains(allowed_, address);
}

} // namespace tempinbox::webhooks
