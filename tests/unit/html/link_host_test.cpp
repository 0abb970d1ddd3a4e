#include "html/link_host.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::html;

TEST_CASE("a link's host is the one that a browser connects to", "[html]")
{
    CHECK(link_host("https://Shop.Example/a?b") == "shop.example");
    CHECK(link_host("https://bank.example@evil.example/") == "evil.example");
    CHECK(link_host("https://bank.example:x@evil.example:8443#f") == "evil.example:8443");
    CHECK(link_host("https:\\\\evil.example\\c") == "evil.example");
    CHECK(link_host("https:evil.example") == "evil.example");
    CHECK(link_host(" ht\ntps://ev\til.example/") == "evil.example");
    CHECK(link_host("https://b\u00e4nk.example/") == "xn--bnk-qla.example");
    CHECK(link_host("https://[::1]:80/") == "[::1]:80");
    CHECK(link_host("javascript:alert(1)").empty());
    CHECK(link_host("data:text/html,x").empty());
    CHECK(link_host("http").empty());
    CHECK(link_host("https:").empty());
    CHECK(link_host("/relative").empty());
    CHECK(link_host("https://").empty());
    CHECK(link_host("https://a<b>.example/") == "a?b?.example");
    CHECK(link_host("\x01\x1f https://evil.example/") == "evil.example");
    CHECK(link_host("https://%65vil.example:8443/") == "evil.example:8443");
    for (const auto* url : {"https://evil%2eexample%2f/", "https://a%.example/",
                            "https://a%zz.example/", "https://bank.example%40evil.example/"})
        CHECK((link_host(url) == "a host name that is not valid"));
}
