#include "common/http/target.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("percent-decoding takes only whole escapes of UTF-8 without NUL", "[http]")
{
    CHECK(http::percent_decode("a%20b%2Fc") == "a b/c");
    CHECK(http::percent_decode("%C3%A9") == "é");
    CHECK(http::percent_decode("a+b") == "a+b");
    CHECK(http::percent_decode("a+b%2b", true) == "a b+");
    CHECK_FALSE(http::percent_decode("%"));
    CHECK_FALSE(http::percent_decode("%4"));
    CHECK_FALSE(http::percent_decode("%zz"));
    CHECK_FALSE(http::percent_decode("%00"));
    CHECK_FALSE(http::percent_decode("%ff"));
}

TEST_CASE("a query is read in order", "[http]")
{
    using pairs = std::vector<std::pair<std::string, std::string>>;

    CHECK(http::parse_query("a=1&b=x%26y&&c&a=2&=v&d=e=f") ==
          pairs{{"a", "1"}, {"b", "x&y"}, {"c", ""}, {"a", "2"}, {"", "v"}, {"d", "e=f"}});
    CHECK(http::parse_query("")->empty());
    CHECK_FALSE(http::parse_query("a=%"));
    CHECK_FALSE(http::parse_query("%ff=1"));
}

TEST_CASE("only path-like request targets are taken", "[http]")
{
    CHECK(http::origin_form("/a?b") == "/a?b");
    CHECK(http::origin_form("*") == "*");
    CHECK(http::origin_form("http://host:80/a?b") == "/a?b");
    CHECK(http::origin_form("HTTPS://host") == "/");
    CHECK_FALSE(http::origin_form("http://host?x"));
    CHECK_FALSE(http::origin_form("host:443"));
    CHECK_FALSE(http::origin_form("ftp://host/a"));
    CHECK_FALSE(http::origin_form(""));
}
