#include "html/color.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::html;

TEST_CASE("colors are read as browsers read them", "[html]")
{
    const auto red = parse_color(" RGB(255 0 0) ");
    REQUIRE(red);
    CHECK(red->red == 255);
    CHECK(parse_color("#f00")->red == 255);
    CHECK(parse_color("rgb(100%, 0%, 0%)")->red == 255);
    CHECK(parse_color("#ff000001")->is_transparent);
    CHECK_FALSE(parse_color("#ff0000ff")->is_transparent);
    CHECK_FALSE(parse_color("#ff"));
    CHECK_FALSE(parse_color("#ggg"));
    CHECK_FALSE(parse_color("rgb(1,2)"));
    CHECK_FALSE(parse_color("no-color"));
    CHECK(parse_color("hsl(240, 100%, 50%)")->blue == 255);
    CHECK(parse_color("hsla(0.5turn 100% 50% / 0)")->is_transparent);
    CHECK(parse_color("hwb(120 0% 0%)")->green == 255);
    CHECK(parse_color("YellowGreen")->green == 0xcd);
    CHECK(parse_color("transparent")->is_transparent);
    CHECK_FALSE(parse_color("lab(1 1 1)"));
}
