#include "common/core/network.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

bool holds(std::string_view block, const char* address)
{
    return network::parse(block).value().contains(boost::asio::ip::make_address(address));
}

} // namespace

TEST_CASE("host:port is read and written", "[core]")
{
    CHECK(host_port::parse("localhost:8080").value() == host_port("localhost", 8080));
    CHECK(host_port::parse("[::1]:25").value() == host_port("::1", 25));
    CHECK(host_port::parse("[::1]:25").value().text() == "[::1]:25");
    CHECK(host_port("10.0.0.1", 1).text() == "10.0.0.1:1");
    for (const auto* text :
         {"", "host", ":80", "host:", "host:x", "host:65536", "host:-1", "host:8 0", "[]:1"}) {
        CAPTURE(text);
        if (std::string_view(text) != "[]:1")
            CHECK_FALSE(host_port::parse(text));
    }
}

TEST_CASE("a CIDR block contains its addresses and no others", "[core]")
{
    CHECK(holds("10.0.0.0/8", "10.255.255.255"));
    CHECK_FALSE(holds("10.0.0.0/8", "11.0.0.0"));
    CHECK(holds("192.168.1.128/25", "192.168.1.200"));
    CHECK_FALSE(holds("192.168.1.128/25", "192.168.1.127"));
    CHECK(holds("127.0.0.1", "127.0.0.1"));
    CHECK_FALSE(holds("127.0.0.1", "127.0.0.2"));
    CHECK(holds("0.0.0.0/0", "203.0.113.9"));
    CHECK_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
    CHECK(holds("2001:db8::/32", "2001:db8:ffff::1"));
    CHECK_FALSE(holds("2001:db8::/32", "2001:db9::1"));
    CHECK(holds("::1", "::1"));
    CHECK(holds("fe80::/10", "febf::1"));
}

TEST_CASE("an IPv4-mapped address is judged as its IPv4 address", "[core]")
{
    CHECK(holds("127.0.0.0/8", "::ffff:127.0.0.1"));
    CHECK_FALSE(holds("::ffff:0:0/96", "::ffff:127.0.0.1"));
    CHECK_FALSE(holds("::/0", "::ffff:127.0.0.1"));
}

TEST_CASE("what is no CIDR block is refused", "[core]")
{
    for (const auto* text :
         {"", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "::/129", "2001:db8::1/32", "10.0.0.0/",
          "10.0.0.0/x", "10.0.0.0/-1", "host/8"}) {
        CAPTURE(text);
        CHECK_FALSE(network::parse(text));
    }
    CHECK(network::parse("10.0.0.0/8").value().text() == "10.0.0.0/8");
}

TEST_CASE("a list of blocks contains what any of them does", "[core]")
{
    const std::vector<network> blocks{network::parse("10.0.0.0/8").value(),
                                      network::parse("::1").value()};

    CHECK(contains(blocks, boost::asio::ip::make_address("10.1.1.1")));
    CHECK(contains(blocks, boost::asio::ip::make_address("::1")));
    CHECK_FALSE(contains(blocks, boost::asio::ip::make_address("9.9.9.9")));
    CHECK_FALSE(contains({}, boost::asio::ip::make_address("9.9.9.9")));
}

TEST_CASE("an IPv4 address counts as itself, IPv6 by its /64", "[network]")
{
    const auto of = [](const char* address) {
        return client_prefix(boost::asio::ip::make_address(address));
    };

    CHECK(of("192.0.2.1") == of("::ffff:192.0.2.1"));
    CHECK(of("192.0.2.1") != of("192.0.2.2"));
    CHECK(of("2001:db8::1") == of("2001:db8::ffff:0:0:2"));
    CHECK(of("2001:db8::1") != of("2001:db8:0:1::1"));
}
