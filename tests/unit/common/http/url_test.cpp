#include "common/http/url.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using http::target_url;

TEST_CASE("a URL is cut into what a client needs", "[http]")
{
    const auto plain = target_url::parse("http://Example.test:8080/a%20b?c=d#e").value();
    CHECK_FALSE(plain.is_tls);
    CHECK(plain.host == "example.test");
    CHECK(plain.port == 8080);
    CHECK(plain.target == "/a%20b?c=d");
    CHECK(plain.authority == "example.test:8080");

    const auto secure = target_url::parse("https://example.test").value();
    CHECK(secure.is_tls);
    CHECK(secure.port == 443);
    CHECK(secure.target == "/");
    CHECK(secure.authority == "example.test");
    CHECK(target_url::parse("https://example.test:443/").value().authority == "example.test");
    CHECK(target_url::parse("http://example.test?x=1").value().target == "/?x=1");

    const auto v6 = target_url::parse("http://[::1]:81/x").value();
    CHECK(v6.host == "::1");
    CHECK(v6.authority == "[::1]:81");
}

TEST_CASE("URLs that should not be called are refused", "[http]")
{
    for (const auto* text :
         {"", "/path", "ftp://host/", "http://", "http:///x", "http://user@host/",
          "http://user:pw@host/", "http://host:0/", "http://host:99999/", "http://ho st/",
          "http://host\\@evil/", "http://[fe80::1%25eth0]/", "http://[v1.x]/", "http://a%00b/",
          "http://a%2fb/", "javascript:alert(1)", "http://host/\r\nX: y"}) {
        CAPTURE(text);
        CHECK_FALSE(target_url::parse(text));
    }
}
