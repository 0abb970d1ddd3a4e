#include "common/json/value.hpp"
#include "common/json/writer.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace tempinbox;
using namespace std::string_literals;

TEST_CASE("a writer puts commas where they belong", "[json]")
{
    json::writer out;
    out.begin_object()
        .member("a", 1)
        .key("b")
        .begin_array()
        .value("x")
        .null()
        .value(true)
        .begin_object()
        .end_object()
        .end_array();
    out.null_member("c").key("d").begin_array().end_array().end_object();

    CHECK(out.take() == R"({"a":1,"b":["x",null,true,{}],"c":null,"d":[]})");
}

TEST_CASE("a writer writes each kind of value", "[json]")
{
    json::writer out;
    out.begin_array()
        .value(std::int64_t{-9223372036854775807 - 1})
        .value(0.1)
        .value(1e300)
        .value(std::numeric_limits<double>::quiet_NaN())
        .value(time_point(std::chrono::milliseconds(1'500)))
        .value(std::optional<int>())
        .value(std::optional<int>(3))
        .value(std::vector<std::string>{"p", "q"})
        .raw(R"({"r":1})")
        .end_array();

    CHECK(
        out.take() ==
        R"([-9223372036854775808,0.1,1e+300,null,"1970-01-01T00:00:01.500Z",null,3,["p","q"],{"r":1}])");
}

TEST_CASE("strings survive writing and reading", "[json]")
{
    const std::string nasty = "quote\" back\\ slash/ \b\f\n\r\t \x01\x1f\x7f \0 é 😀"s;
    json::writer out;
    out.begin_object().member("text", nasty).member(nasty, "name").end_object();

    const auto back = json::value::parse(out.take()).value();

    CHECK(back["text"].text() == nasty);
    CHECK(back[nasty].text() == "name");
}

TEST_CASE("a writer repairs strings that are not UTF-8", "[json]")
{
    json::writer out;
    out.begin_array().value(std::string("a\xff"
                                        "b"));
    out.end_array();

    CHECK(out.take() == "[\"a\xef\xbf\xbd"
                        "b\"]");
}
