#include "common/core/network.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <span>

namespace tempinbox {
namespace {

namespace ip = boost::asio::ip;

ip::address unmapped(const ip::address& address)
{
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

bool same_prefix(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, unsigned bits)
{
    const std::size_t whole = bits / 8;
    for (std::size_t i = 0; i < whole; ++i)
        if (a[i] != b[i])
            return false;
    if (bits % 8 == 0)
        return true;
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits % 8));
    return ((a[whole] ^ b[whole]) & mask) == 0;
}

template <class T>
std::optional<T> parse_number(std::string_view text)
{
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

} // namespace

result<host_port> host_port::parse(std::string_view text)
{
    const auto colon = text.rfind(':');
    const auto port = colon == std::string_view::npos
                          ? std::nullopt
                          : parse_number<std::uint16_t>(text.substr(colon + 1));
    auto host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    if (!port || host.empty())
        return failure{errc::invalid_argument, "must be host:port, not " + quote(text)};
    return host_port{std::string(host), *port};
}

std::string host_port::text() const
{
    const bool is_v6 = host.find(':') != std::string::npos;
    return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

result<network> network::parse(std::string_view text)
{
    const auto slash = text.find('/');
    boost::system::error_code error;
    const auto base = ip::make_address(std::string(text.substr(0, slash)), error);
    if (error)
        return failure{errc::invalid_argument,
                       "must be a network such as 10.0.0.0/8, not " + quote(text)};
    const unsigned max_prefix = base.is_v4() ? 32 : 128;
    const auto prefix = slash == std::string_view::npos
                            ? std::optional<unsigned>{max_prefix}
                            : parse_number<unsigned>(text.substr(slash + 1));
    if (!prefix || *prefix > max_prefix)
        return failure{errc::invalid_argument, "must have a prefix of 0 to " +
                                                   std::to_string(max_prefix) +
                                                   " bits: " + quote(text)};

    network block;
    block.base_ = base;
    block.prefix_ = *prefix;
    const auto host_bits_are_zero = [prefix = *prefix](auto bytes) {
        for (unsigned bit = prefix; bit < bytes.size() * 8; ++bit)
            if (bytes[bit / 8] & (0x80 >> bit % 8))
                return false;
        return true;
    };
    if (!(base.is_v4() ? host_bits_are_zero(base.to_v4().to_bytes())
                       : host_bits_are_zero(base.to_v6().to_bytes())))
        return failure{errc::invalid_argument, "has bits set past its prefix: " + quote(text)};
    return block;
}

bool network::contains(const ip::address& address) const
{
    const auto judged = unmapped(address);
    if (judged.is_v4() != base_.is_v4())
        return false;
    if (judged.is_v4())
        return same_prefix(judged.to_v4().to_bytes(), base_.to_v4().to_bytes(), prefix_);
    return same_prefix(judged.to_v6().to_bytes(), base_.to_v6().to_bytes(), prefix_);
}

std::string network::text() const
{
    return base_.to_string() + "/" + std::to_string(prefix_);
}

std::string client_prefix(const boost::asio::ip::address& address)
{
    const auto text = [](const auto& bytes, std::size_t count) {
        return std::string(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    };
    if (address.is_v4())
        return text(address.to_v4().to_bytes(), 4);
    const auto v6 = address.to_v6();
    if (v6.is_v4_mapped())
        return text(boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6).to_bytes(), 4);
    return text(v6.to_bytes(), 8);
}

bool contains(const std::vector<network>& networks, const ip::address& address)
{
    return std::any_of(networks.begin(), networks.end(),
                       [&](const network& block) { return block.contains(address); });
}

} // namespace tempinbox
