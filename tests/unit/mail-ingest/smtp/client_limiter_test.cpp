#include "mail-ingest/smtp/client_limiter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using admission = smtp::client_limiter::admission;

namespace {

boost::asio::ip::address at(const char* text)
{
    return boost::asio::ip::make_address(text);
}

const smtp::client_limiter::time_point noon{std::chrono::hours(12)};

} // namespace

TEST_CASE("an IPv4 address, or a /64 of IPv6, has 20 connections", "[smtp]")
{
    smtp::client_limiter all(smtp::client_limits{});
    for (int i = 0; i < 20; ++i) {
        REQUIRE(all.enter(at("192.0.2.1")) == admission::welcome);
        REQUIRE(all.enter(at(i % 2 == 0 ? "2001:db8::1" : "2001:db8::ffff:2")) ==
                admission::welcome);
    }
    CHECK(all.enter(at("192.0.2.1")) == admission::too_many_from_address);
    CHECK(all.enter(at("::ffff:192.0.2.1")) == admission::too_many_from_address);
    CHECK(all.enter(at("2001:db8::3")) == admission::too_many_from_address);
    CHECK(all.enter(at("192.0.2.2")) == admission::welcome);
    CHECK(all.enter(at("2001:db8:0:1::1")) == admission::welcome);

    all.leave(at("192.0.2.1"));
    CHECK(all.enter(at("192.0.2.1")) == admission::welcome);
}

TEST_CASE("a /56 of IPv6 has 60 connections, a /48 has 120", "[smtp]")
{
    smtp::client_limiter all(smtp::client_limits{});
    const auto fill = [&all](const std::string& subnet) {
        for (int i = 0; i < 20; ++i)
            REQUIRE(all.enter(at(("2001:db8:0:" + subnet + "::1").c_str())) == admission::welcome);
    };
    for (const auto* subnet : {"1", "2", "3"})
        fill(subnet);
    CHECK(all.enter(at("2001:db8:0:4::1")) == admission::too_many_from_address);
    for (const auto* subnet : {"101", "102", "103"})
        fill(subnet);
    CHECK(all.enter(at("2001:db8:0:201::1")) == admission::too_many_from_address);
    CHECK(all.enter(at("2001:db8:1::1")) == admission::welcome);

    all.leave(at("2001:db8:0:1::1"));
    CHECK(all.enter(at("2001:db8:0:4::1")) == admission::welcome);
}

TEST_CASE("exempt connections take no slot from others of their network", "[smtp]")
{
    smtp::client_limits limits;
    limits.exempt = {*network::parse("2001:db8:0:1::/64")};
    smtp::client_limiter all(limits);
    for (int i = 0; i < 1'000; ++i)
        REQUIRE(all.enter(at("2001:db8:0:1::1")) == admission::welcome);

    CHECK(all.enter(at("2001:db8:0:2::1")) == admission::welcome);
}

TEST_CASE("large senders have 200 connections, exempt ones any number, and all together 8192",
          "[smtp]")
{
    smtp::client_limits limits;
    limits.large_senders = {*network::parse("198.51.100.0/24")};
    limits.exempt = {*network::parse("127.0.0.0/8")};
    smtp::client_limiter all(limits);
    for (int i = 0; i < 200; ++i)
        REQUIRE(all.enter(at("198.51.100.7")) == admission::welcome);
    CHECK(all.enter(at("198.51.100.7")) == admission::too_many_from_address);

    while (all.connected() < 8'192)
        REQUIRE(all.enter(at("127.0.0.1")) == admission::welcome);
    CHECK(all.enter(at("127.0.0.1")) == admission::too_many);
    CHECK(all.enter(at("192.0.2.1")) == admission::too_many);
}

TEST_CASE("a client that a balancer announces is never exempt", "[smtp]")
{
    smtp::client_limits limits;
    limits.connections_per_address = 1;
    limits.messages_per_minute = 1;
    limits.message_burst = 1;
    limits.unknown_recipients = 1;
    limits.exempt = {*network::parse("192.0.2.0/24")};
    smtp::client_limiter all(limits);
    const smtp::client_address announced(at("192.0.2.1"), true);
    CHECK_FALSE(all.is_exempt(announced));
    CHECK(all.is_exempt(at("192.0.2.1")));

    REQUIRE(all.enter(announced) == admission::welcome);
    CHECK(all.enter(announced) == admission::too_many_from_address);
    all.note_message(announced, noon);
    CHECK(all.is_over_rate(announced, noon));
    all.note_unknown_recipient(announced, noon);
    CHECK(all.is_slowed(announced, noon));

    // The exempt client itself has nothing to do with what was announced of it.
    CHECK(all.enter(at("192.0.2.1")) == admission::welcome);
    CHECK_FALSE(all.is_over_rate(at("192.0.2.1"), noon));
    CHECK_FALSE(all.is_slowed(at("192.0.2.1"), noon));
    all.leave(at("192.0.2.1"));
    CHECK(all.enter(announced) == admission::too_many_from_address);
    all.leave(announced);
    CHECK(all.connected() == 0);
    CHECK(all.enter(announced) == admission::welcome);
}

TEST_CASE("idle sessions must go earlier past three quarters of the connections", "[smtp]")
{
    smtp::client_limits limits;
    limits.connections = 4;
    smtp::client_limiter all(limits);
    for (int i = 0; i < 3; ++i)
        all.enter(at("192.0.2.1"));
    CHECK_FALSE(all.is_busy());
    all.enter(at("192.0.2.1"));
    CHECK(all.is_busy());
}

TEST_CASE(
    "from the 30th unknown recipient in 10 minutes an address without accepted mail is slowed",
    "[smtp]")
{
    smtp::client_limiter all(smtp::client_limits{});
    for (int i = 0; i < 29; ++i)
        all.note_unknown_recipient(at("192.0.2.1"), noon);
    CHECK_FALSE(all.is_slowed(at("192.0.2.1"), noon));
    all.note_unknown_recipient(at("192.0.2.1"), noon);
    CHECK(all.is_slowed(at("192.0.2.1"), noon));
    CHECK_FALSE(all.is_slowed(at("192.0.2.2"), noon));

    SECTION("until the ten minutes are over")
    {
        CHECK_FALSE(all.is_slowed(at("192.0.2.1"), noon + std::chrono::minutes(11)));
    }
    SECTION("but not one whose mail was accepted in the last day")
    {
        all.note_accepted_mail(at("192.0.2.1"), noon);
        CHECK_FALSE(all.is_slowed(at("192.0.2.1"), noon));
    }
}

TEST_CASE("every limit by address can be off", "[smtp]")
{
    smtp::client_limits limits;
    limits.connections = limits.connections_per_address = 0;
    limits.unknown_recipients = 0;
    smtp::client_limiter all(limits);
    for (int i = 0; i < 10'000; ++i) {
        REQUIRE(all.enter(at("192.0.2.1")) == admission::welcome);
        all.note_unknown_recipient(at("192.0.2.1"), noon);
    }
    CHECK_FALSE(all.is_slowed(at("192.0.2.1"), noon));
    CHECK_FALSE(all.is_busy());
}

TEST_CASE("messages from one address have no rate unless there is one", "[smtp]")
{
    smtp::client_limiter unbound(smtp::client_limits{});
    for (int i = 0; i < 1'000; ++i)
        unbound.note_message(at("192.0.2.1"), noon);
    CHECK_FALSE(unbound.is_over_rate(at("192.0.2.1"), noon));

    smtp::client_limits limits;
    limits.messages_per_minute = 1;
    limits.message_burst = 2;
    limits.exempt = {*network::parse("198.51.100.0/24")};
    smtp::client_limiter all(limits);
    for (const char* who : {"192.0.2.1", "198.51.100.1", "2001:db8::1", "2001:db8::2"})
        all.note_message(at(who), noon);
    CHECK_FALSE(all.is_over_rate(at("192.0.2.1"), noon));
    CHECK(all.is_over_rate(at("2001:db8::3"), noon)); // one /64
    all.note_message(at("192.0.2.1"), noon);
    all.note_message(at("198.51.100.1"), noon);
    CHECK(all.is_over_rate(at("192.0.2.1"), noon));
    CHECK_FALSE(all.is_over_rate(at("192.0.2.2"), noon));
    CHECK_FALSE(all.is_over_rate(at("198.51.100.1"), noon));
    CHECK_FALSE(all.is_over_rate(at("192.0.2.1"), noon + std::chrono::minutes(1)));
}
