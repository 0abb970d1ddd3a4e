#include "webhook-dispatcher/endpoints/address_policy.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

namespace {

boost::asio::ip::address address(const char* text)
{
    return boost::asio::ip::make_address(text);
}

} // namespace

TEST_CASE("public addresses may be dialled", "[webhooks][ssrf]")
{
    for (const char* text : {"1.1.1.1",         "8.8.8.8",
                             "9.255.255.255",   "11.0.0.0",
                             "100.63.255.255",  "100.128.0.0",
                             "126.255.255.255", "128.0.0.0",
                             "169.253.255.255", "169.255.0.0",
                             "172.15.255.255",  "172.32.0.0",
                             "192.0.1.0",       "192.0.3.0",
                             "192.88.98.255",   "192.167.255.255",
                             "192.169.0.0",     "198.17.255.255",
                             "198.20.0.0",      "198.51.99.255",
                             "203.0.112.255",   "203.0.114.0",
                             "223.255.255.255", "2606:4700:4700::1111",
                             "2001:200::1",     "2001:4860:4860::8888",
                             "2003::1",         "3ffe::1",
                             "::ffff:8.8.8.8",  "64:ff9b::808:808"}) {
        INFO(text);
        CHECK(is_public(address(text)));
    }
}

TEST_CASE("private, local and reserved addresses may not", "[webhooks][ssrf]")
{
    for (const char* text : {"0.0.0.0",      "0.255.255.255",   "10.0.0.1",   "10.255.255.255",
                             "100.64.0.1",   "100.127.255.255", "127.0.0.1",  "127.255.255.255",
                             "169.254.0.1",  "169.254.169.254", "172.16.0.1", "172.31.255.255",
                             "192.0.0.1",    "192.0.0.192",     "192.0.2.1",  "192.88.99.1",
                             "192.168.0.1",  "192.168.255.255", "198.18.0.1", "198.19.255.255",
                             "198.51.100.1", "203.0.113.1",     "224.0.0.1",  "239.255.255.255",
                             "240.0.0.1",    "255.255.255.255"}) {
        INFO(text);
        CHECK_FALSE(is_public(address(text)));
    }
}

TEST_CASE("IPv6 outside global unicast, and its special ranges, may not", "[webhooks][ssrf]")
{
    for (const char* text :
         {"::",          "::1",           "fe80::1",        "fec0::1",
          "fc00::1",     "fd00:ec2::254", "ff02::1",        "100::1",
          "1fff::1",     "4000::1",       "2001::1",        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
          "2001:10::1",  "2001:20::1",    "2001:2::1",      "2001:1ff::1",
          "2001:db8::1", "2002:7f00:1::", "2002:808:808::", "3fff::1",
          "3fff:fff::1", "5f00::1"}) {
        INFO(text);
        CHECK_FALSE(is_public(address(text)));
    }
}

TEST_CASE("IPv6 forms that hide an IPv4 address are checked by it", "[webhooks][ssrf]")
{
    for (const char* text :
         {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0",
          "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1", "::127.0.0.1", "::8.8.8.8",
          "64:ff9b:1::808:808", "64:ff9b:1:7f00:0:100::", "::ffff:0:127.0.0.1"}) {
        INFO(text);
        CHECK_FALSE(is_public(address(text)));
    }
}

TEST_CASE("an address with a zone is never public", "[webhooks][ssrf]")
{
    auto bytes = address("2606:4700:4700::1111").to_v6().to_bytes();

    CHECK_FALSE(is_public(boost::asio::ip::address_v6(bytes, 3)));
}

TEST_CASE("what the operator lists is allowed, what is its own is not", "[webhooks][ssrf]")
{
    const address_policy policy({*network::parse("127.0.0.0/8"), *network::parse("fd00::/8")},
                                {*network::parse("8.8.0.0/16")});

    CHECK(policy.allows(address("127.0.0.1")));
    CHECK(policy.allows(address("::ffff:127.0.0.1")));
    CHECK(policy.allows(address("fd00::7")));
    CHECK(policy.allows(address("1.1.1.1")));
    CHECK_FALSE(policy.allows(address("10.0.0.1")));
    CHECK_FALSE(policy.allows(address("8.8.8.8")));
    CHECK_FALSE(policy.allows(address("::ffff:8.8.8.8")));
    CHECK_FALSE(policy.allows(address("64:ff9b::808:808")));
    CHECK_FALSE(policy.allows(address("64:ff9b::7f00:1")));
    CHECK_FALSE(address_policy{}.allows(address("127.0.0.1")));
}
