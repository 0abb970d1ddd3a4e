#include "common/json/value.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace tempinbox;
using json::value;

namespace {

std::string refusal(std::string_view text, const json::limits& allowed = {})
{
    const auto parsed = value::parse(text, allowed);
    return parsed ? std::string("taken") : parsed.error().message;
}

std::string nested(int depth)
{
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
}

} // namespace

TEST_CASE("JSON values keep their kinds", "[json]")
{
    const auto parsed = value::parse(R"({"a":1,"b":"x","c":[true,null,1.5],"d":{}})");

    REQUIRE(parsed);
    const auto& object = *parsed;
    CHECK(object.is_object());
    CHECK(object.size() == 4);
    CHECK(object["a"].integer() == 1);
    CHECK(object["b"].text() == "x");
    CHECK(object["c"][0].boolean());
    CHECK(object["c"][1].is_null());
    CHECK(object["c"][2].number() == 1.5);
    CHECK_FALSE(object["c"][2].is_integer());
    CHECK(object["d"].kind() == "an object");
    CHECK_FALSE(object.find("e"));
    CHECK(object.members().front().first == "a");
    CHECK(object.to_string() == R"({"a":1,"b":"x","c":[true,null,1.5],"d":{}})");
}

TEST_CASE("asking a JSON value for another kind throws", "[json]")
{
    const auto object = value::parse(R"({"a":"x"})").value();

    CHECK_THROWS_AS(object["a"].integer(), failure_error);
    CHECK_THROWS_AS(object["b"], failure_error);
    CHECK_THROWS_AS(object.text(), failure_error);
    CHECK_THROWS_AS(object[std::size_t{0}], failure_error);
}

TEST_CASE("a part of a JSON document outlives the rest", "[json]")
{
    std::optional<value> part;
    {
        const auto whole =
            value::parse(R"({"long":["a string that is not short at all"]})").value();
        part = whole["long"][0];
    }

    CHECK(part->text() == "a string that is not short at all");
}

TEST_CASE("JSON that is not strictly JSON is refused with its line and column", "[json]")
{
    CHECK(
        refusal("{\n \"a\":1 \"b\":2}") ==
        "body is not valid JSON at line 2, column 8: missing a comma or } after an object member");
    CHECK(refusal("") == "body is not valid JSON at line 1, column 1: the text is empty");
    CHECK(refusal("{} x") ==
          "body is not valid JSON at line 1, column 4: more text follows the value");
    CHECK_THAT(refusal(R"({"a":1,})"), Catch::Contains("name of an object member"));
    CHECK_THAT(refusal("[1,]"), Catch::Contains("not a JSON value"));
    CHECK_THAT(refusal("{'a':1}"), Catch::Contains("name of an object member"));
    CHECK_THAT(refusal("[1 // one\n]"), Catch::Contains("line 1, column 4"));
    CHECK_THAT(refusal("NaN"), Catch::Contains("not a JSON value"));
    CHECK_THAT(refusal("[Infinity]"), Catch::Contains("not a JSON value"));
    CHECK_THAT(refusal("01"), Catch::Contains("more text"));
    CHECK_THAT(refusal("1."), Catch::Contains("decimal point"));
    CHECK_THAT(refusal("1e"), Catch::Contains("exponent"));
    CHECK_THAT(refusal("\xef\xbb\xbf{}"), Catch::Contains("line 1, column 1"));
    CHECK_THAT(refusal("\"\x01\""), Catch::Contains("control character"));
    CHECK_THAT(refusal(R"("\x")"), Catch::Contains("escape"));
    CHECK_THAT(refusal(R"("\u12g4")"), Catch::Contains("hexadecimal"));
}

TEST_CASE("every prefix of a JSON text is refused", "[json]")
{
    const std::string whole = R"({"a":[1,-2.5e3,"\u00e9\ud83d\ude00",{"b":null}],"c":true})";
    REQUIRE(value::parse(whole));

    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK_FALSE(value::parse(whole.substr(0, length)));
}

TEST_CASE("a name given twice is refused at any depth", "[json]")
{
    CHECK_THAT(refusal(R"({"a":1,"b":2,"a":3})"), Catch::Contains("the name \"a\" is given twice"));
    CHECK_THAT(refusal(R"([{"x":{"k":1,"\u006b":2}}])"),
               Catch::Contains("the name \"k\" is given twice"));
    CHECK(value::parse(R"({"a":{"a":{"a":1}},"b":{"a":1}})"));

    std::string many = "{\"n0\":0";
    for (int i = 1; i < 20'000; ++i)
        many += ",\"n" + std::to_string(i) + "\":0";
    CHECK(value::parse(many + "}", json::limits{1'000'000, 4}));
    CHECK_THAT(refusal(many + ",\"n77\":0}", json::limits{1'000'000, 4}),
               Catch::Contains("\"n77\" is given twice"));
}

TEST_CASE("strings of JSON must be UTF-8", "[json]")
{
    CHECK_THAT(refusal("\"\xff\""), Catch::Contains("UTF-8"));
    CHECK_THAT(refusal("\"\xc0\xaf\""), Catch::Contains("UTF-8"));
    CHECK_THAT(refusal("{\"\xed\xa0\x80\":1}"), Catch::Contains("UTF-8"));
    CHECK_THAT(refusal(R"("\ud800")"), Catch::Contains("surrogate"));
    CHECK_FALSE(value::parse(R"("\udc00")"));
    CHECK_FALSE(value::parse(R"("\udc00\ud800")"));
    CHECK(value::parse(R"("\ud83d\ude00")").value().text() == "\xf0\x9f\x98\x80");
}

TEST_CASE("zero bytes are refused, written as an escape they are kept", "[json]")
{
    CHECK_THAT(refusal(std::string_view("{}\0 ", 4)), Catch::Contains("column 3: a zero byte"));
    CHECK(value::parse(R"("a\u0000b")").value().text() == std::string("a\0b", 3));
}

TEST_CASE("depth and size of JSON are bounded", "[json]")
{
    CHECK(value::parse(nested(32)));
    CHECK_THAT(refusal(nested(33)), Catch::Contains("nested deeper than 32 levels"));
    CHECK_THAT(refusal(std::string(60'000, '[')), Catch::Contains("nested deeper than 32 levels"));
    CHECK(value::parse("[[],[]]", json::limits{100, 2}));

    const auto large = value::parse("\"" + std::string(70'000, 'x') + "\"");
    REQUIRE_FALSE(large);
    CHECK(large.error().code == errc::payload_too_large);
}

TEST_CASE("numbers of JSON keep their precision", "[json]")
{
    const auto number = [](std::string_view text) { return value::parse(text).value(); };

    CHECK(number("9223372036854775807").integer() == 9223372036854775807);
    CHECK(number("-9223372036854775808").is_integer());
    CHECK_FALSE(number("9223372036854775808").is_integer());
    CHECK_FALSE(number("18446744073709551616").is_integer());
    CHECK(number("0.1").number() == 0.1);
    CHECK(number("2.2250738585072011e-308").number() == 2.2250738585072011e-308);
    CHECK(number("1e-400").number() == 0.0);
    CHECK_THAT(refusal("1e400"), Catch::Contains("too large"));
    CHECK_THAT(refusal("[" + std::string(1'000, '9') + "]"), Catch::Contains("too large"));
    CHECK(std::isfinite(number("0." + std::string(5'000, '3')).number()));
    CHECK(number("-" + std::string(200, '2') + ".5e-199").number() == -2.2222222222222222222);
    CHECK_THAT(refusal(std::string(200, '2') + ".5e223"), Catch::Contains("a number too large"));
}

TEST_CASE("a number without a fraction is an integer however it is written", "[json]")
{
    const auto integer = [](std::string_view text) -> std::optional<std::int64_t> {
        const auto read = value::parse(text).value();
        return read.is_integer() ? std::optional(read.integer()) : std::nullopt;
    };

    CHECK(integer("5.0") == 5);
    CHECK(integer("-5.000") == -5);
    CHECK(integer("1e1") == 10);
    CHECK(integer("1E+2") == 100);
    CHECK(integer("1.25e2") == 125);
    CHECK(integer("10e-1") == 1);
    CHECK(integer("0.001e3") == 1);
    CHECK(integer("0.0") == 0);
    CHECK(integer("-0.0e5") == 0);
    CHECK(integer("0e-300") == 0);
    CHECK(integer("9007199254740991.0") == 9007199254740991);
    CHECK(integer("-9.223372036854775808e18") == -9223372036854775807 - 1);
    CHECK(integer("1" + std::string(200, '0') + "e-200") == 1);
    CHECK(value::parse("5.0").value().to_string() == "5");

    for (const auto* text : {"5.5", "1e-1", "12e-1", "0.1", "9223372036854775808.0", "1e19",
                             "1e300", "-1e300", "1e-300"}) {
        CAPTURE(text);
        CHECK(integer(text) == std::nullopt);
    }
}

TEST_CASE("numbers too near to zero to be told from it are read and written", "[json]")
{
    for (const auto* tiny : {"12e-325", "-12e-325", "5e-324", "1e-310"}) {
        INFO(tiny);
        const auto read = value::parse(tiny);
        REQUIRE(read);
        CHECK(std::abs(read->number()) < 1e-300);
        const auto again = value::parse(read->to_string());
        REQUIRE(again);
        CHECK(again->to_string() == read->to_string());
    }
}
