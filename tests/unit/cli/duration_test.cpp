#include "cli/duration.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::cli;
using namespace std::chrono_literals;

TEST_CASE("a time has one unit, seconds without", "[cli]")
{
    CHECK(parse_duration("90") == 90s);
    CHECK(parse_duration("90s") == 90s);
    CHECK(parse_duration("15m") == 15min);
    CHECK(parse_duration("2h") == 2h);
    CHECK(parse_duration("7d") == 168h);
    for (const char* const wrong :
         {"", "s", "-1", "+1", "1.5h", "1h30m", "1 h", "1w", "99999999999999999999", "100001d"})
        CHECK_FALSE(parse_duration(wrong));
}

TEST_CASE("a time is shown in the largest unit that keeps it whole", "[cli]")
{
    CHECK(to_text(90s) == "90s");
    CHECK(to_text(900s) == "15m");
    CHECK(to_text(168h) == "7d");
    CHECK(to_text(0s) == "0s");
}
