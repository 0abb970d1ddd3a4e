#include "common/config/units.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::config;
using namespace std::chrono_literals;

TEST_CASE("durations are read with their unit, or as seconds", "[config]")
{
    CHECK(parse_duration("250ms") == 250ms);
    CHECK(parse_duration("5s") == 5s);
    CHECK(parse_duration("10m") == 10min);
    CHECK(parse_duration("24h") == 24h);
    CHECK(parse_duration("7d") == 168h);
    CHECK(parse_duration("25") == 25s);
    CHECK(parse_duration("5 s") == 5s);
}

TEST_CASE("what is no duration is refused", "[config]")
{
    const auto text = GENERATE("", "s", "-5s", "5 weeks", "1.5s", "9223372036854775807d", "5ss");
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
}

TEST_CASE("durations are shown in the largest unit that divides them", "[config]")
{
    CHECK(to_text(1500ms) == "1500ms");
    CHECK(to_text(90s) == "90s");
    CHECK(to_text(48h) == "2d");
    CHECK(to_text(0ms) == "0");
    CHECK(parse_duration(to_text(0ms)) == 0ms);
}

TEST_CASE("sizes are read and shown", "[config]")
{
    CHECK(parse_bytes("65536") == 65'536);
    CHECK(parse_bytes("64KiB") == 65'536);
    CHECK(parse_bytes("25 MiB") == 26'214'400);
    CHECK(parse_bytes("1GiB") == 1'073'741'824);
    CHECK_FALSE(parse_bytes("1 GB"));
    CHECK_FALSE(parse_bytes("-1"));
    CHECK(bytes_to_text(26'214'400) == "25MiB");
    CHECK(bytes_to_text(1'000) == "1000");
    CHECK(bytes_to_text(0) == "0");
}

TEST_CASE("truths have several spellings", "[config]")
{
    CHECK(parse_truth("TRUE") == true);
    CHECK(parse_truth("on") == true);
    CHECK(parse_truth("0") == false);
    CHECK(parse_truth("no") == false);
    CHECK_FALSE(parse_truth("maybe"));
}
