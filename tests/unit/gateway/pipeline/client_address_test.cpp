#include "gateway/pipeline/client_address.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

std::vector<network> trusted(std::initializer_list<const char*> blocks)
{
    std::vector<network> networks;
    for (const auto* block : blocks)
        networks.push_back(network::parse(block).value());
    return networks;
}

std::string address_of(const std::string& peer, const std::vector<std::string>& forwarded,
                       const std::vector<network>& proxies)
{
    http::request received;
    received.peer = boost::asio::ip::make_address(peer);
    for (const auto& value : forwarded)
        received.headers.emplace_back("x-forwarded-for", value);
    return client_address(received, proxies).to_string();
}

} // namespace

TEST_CASE("X-Forwarded-For is believed from trusted proxies only", "[gateway][client_address]")
{
    const auto proxies = trusted({"10.0.0.0/8", "fd00::/8"});

    CHECK(address_of("192.0.2.1", {"198.51.100.7"}, {}) == "192.0.2.1");
    CHECK(address_of("192.0.2.1", {"198.51.100.7"}, proxies) == "192.0.2.1");
    CHECK(address_of("10.0.0.1", {}, proxies) == "10.0.0.1");
    CHECK(address_of("10.0.0.1", {"198.51.100.7"}, proxies) == "198.51.100.7");
}

TEST_CASE("the right-most entry that is no proxy counts, whatever the client wrote before it",
          "[gateway][client_address]")
{
    const auto proxies = trusted({"10.0.0.0/8"});

    CHECK(address_of("10.0.0.1", {"1.2.3.4, 198.51.100.7, 10.0.0.2"}, proxies) == "198.51.100.7");
    CHECK(address_of("10.0.0.1", {"1.2.3.4", "198.51.100.7", "10.0.0.2"}, proxies) ==
          "198.51.100.7");
    CHECK(address_of("10.0.0.1", {"10.0.0.3, 10.0.0.2"}, proxies) == "10.0.0.3");
    CHECK(address_of("10.0.0.1", {"nonsense, 10.0.0.2"}, proxies) == "10.0.0.2");
    CHECK(address_of("10.0.0.1", {"198.51.100.7:4711"}, proxies) == "198.51.100.7");
    CHECK(address_of("10.0.0.1", {"[2001:db8::1]:4711"}, proxies) == "2001:db8::1");
    CHECK(address_of("10.0.0.1", {"2001:db8::1"}, proxies) == "2001:db8::1");
}
