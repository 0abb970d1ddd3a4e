#include "common/http/connection_limiter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

boost::asio::ip::address at(const char* text)
{
    return boost::asio::ip::make_address(text);
}

} // namespace

TEST_CASE("a refusal for too many /64s of one network names the network", "[http]")
{
    http::connection_limiter open(1, {});
    for (const auto* peer : {"2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"})
        open.enter(at(peer));

    CHECK(open.reason_to_refuse(at("2001:db8:0:1::2")) ==
          "Too many connections from this address: 1 are open");
    CHECK(open.reason_to_refuse(at("2001:db8:0:4::1")) ==
          "Too many connections from this address's /56: 3 are open");
    CHECK(open.reason_to_refuse(at("2001:db8:0:100::1")).empty());
    CHECK(open.reason_to_refuse(at("192.0.2.1")).empty());
}

TEST_CASE("networks that are not counted fill no prefix", "[http]")
{
    http::connection_limiter open(1, {*network::parse("2001:db8:0:1::/64")});
    for (int i = 0; i < 10; ++i)
        open.enter(at("2001:db8:0:1::1"));

    CHECK(open.reason_to_refuse(at("2001:db8:0:1::1")).empty());
    CHECK(open.reason_to_refuse(at("2001:db8:0:2::1")).empty());
}
