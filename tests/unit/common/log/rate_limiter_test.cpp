#include "common/log/rate_limiter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

TEST_CASE("a line is due once an interval and stands for all that happened since the one before",
          "[log]")
{
    log::rate_limiter rate_limiter(1min);
    const std::chrono::steady_clock::time_point start{};

    CHECK(rate_limiter.pass(3, start) == 3);
    CHECK_FALSE(rate_limiter.pass(1, start + 1s));
    CHECK_FALSE(rate_limiter.pass(2, start + 59s));
    CHECK(rate_limiter.pass(4, start + 60s) == 7);
    CHECK_FALSE(rate_limiter.pass(1, start + 119s));
    CHECK(rate_limiter.pass(1, start + 120s) == 2);
}
