#include "common/log/pace.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

TEST_CASE("a line is due once an interval and stands for all that happened since the one before",
          "[log]")
{
    log::pace pace(1min);
    const std::chrono::steady_clock::time_point start{};

    CHECK(pace.pass(3, start) == 3);
    CHECK_FALSE(pace.pass(1, start + 1s));
    CHECK_FALSE(pace.pass(2, start + 59s));
    CHECK(pace.pass(4, start + 60s) == 7);
    CHECK_FALSE(pace.pass(1, start + 119s));
    CHECK(pace.pass(1, start + 120s) == 2);
}
