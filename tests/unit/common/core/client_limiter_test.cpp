#include "common/core/client_limiter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

boost::asio::ip::address at(const std::string& text)
{
    return boost::asio::ip::make_address(text);
}

void enter(client_limiter& counts, const std::string& who, int times)
{
    for (int i = 0; i < times; ++i)
        counts.enter(at(who));
}

} // namespace

TEST_CASE("an IPv4 address is full by itself, mapped or not", "[core]")
{
    client_limiter counts(0);
    enter(counts, "192.0.2.1", 2);

    const auto full = counts.find_full(at("::ffff:192.0.2.1"), 2);

    REQUIRE(full);
    CHECK(full->bits == 32);
    CHECK(full->max == 2);
    CHECK_FALSE(counts.find_full(at("192.0.2.1"), 3));
    CHECK_FALSE(counts.find_full(at("192.0.2.2"), 2));
}

TEST_CASE("a /56 of IPv6 has room for three times as many as a /64, a /48 for six times", "[core]")
{
    client_limiter counts(0);
    // Three full /64s of one /56.
    for (const auto* who : {"2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"})
        enter(counts, who, 2);
    const auto full_64 = counts.find_full(at("2001:db8:0:1:f::"), 2);
    const auto full_56 = counts.find_full(at("2001:db8:0:ff::1"), 2);
    const auto next_56 = counts.find_full(at("2001:db8:0:100::1"), 2);
    // As many in another /56 of the same /48.
    for (const auto* who : {"2001:db8:0:101::1", "2001:db8:0:102::1", "2001:db8:0:103::1"})
        enter(counts, who, 2);
    const auto full_48 = counts.find_full(at("2001:db8:0:200::1"), 2);

    REQUIRE((full_64 && full_56 && full_48));
    CHECK(full_64->name() == "this address");
    CHECK(full_56->name() == "this address's /56");
    CHECK(full_48->name() == "this address's /48");
    CHECK(full_64->bits == 64);
    CHECK(full_64->max == 2);
    CHECK(full_56->bits == 56);
    CHECK(full_56->max == 6);
    CHECK_FALSE(next_56);
    CHECK(full_48->bits == 48);
    CHECK(full_48->max == 12);
    CHECK_FALSE(counts.find_full(at("2001:db8:1::1"), 2));
}

TEST_CASE("who leaves makes room in every prefix", "[core]")
{
    client_limiter counts(0);
    for (const auto* who : {"2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"})
        counts.enter(at(who));
    REQUIRE(counts.find_full(at("2001:db8:0:4::1"), 1));

    counts.leave(at("2001:db8:0:3::1"));

    CHECK_FALSE(counts.find_full(at("2001:db8:0:4::1"), 1));
    CHECK_FALSE(counts.find_full(at("2001:db8:0:3::1"), 1));
}

TEST_CASE("clients of exempt networks fill no prefix, and without a limit none is full", "[core]")
{
    client_limiter counts(1, {*network::parse("2001:db8:0:1::/64")});
    enter(counts, "2001:db8:0:1::1", 10);
    CHECK_FALSE(counts.find_full(at("2001:db8:0:1::1")));
    CHECK_FALSE(counts.find_full(at("2001:db8:0:2::1")));
    counts.leave(at("2001:db8:0:1::1"));

    enter(counts, "2001:db8:0:2::1", 1);
    CHECK(counts.find_full(at("2001:db8:0:2::1")));
    CHECK_FALSE(counts.find_full(at("2001:db8:0:2::1"), 2));
    CHECK_FALSE(counts.find_full(at("2001:db8:0:2::1"), 0));
}
