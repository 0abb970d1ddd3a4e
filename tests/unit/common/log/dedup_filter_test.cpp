#include "common/log/dedup_filter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

TEST_CASE("a message that repeats too fast is suppressed and counted", "[log]")
{
    log::dedup_filter seen(2);
    const auto start = std::chrono::steady_clock::time_point(1h);

    CHECK(seen.pass("m", start) == 0);
    CHECK(seen.pass("m", start + 1ms) == 0);
    CHECK_FALSE(seen.pass("m", start + 2ms));
    CHECK_FALSE(seen.pass("m", start + 3ms));
    CHECK(seen.pass("other", start + 3ms) == 0);
    CHECK(seen.pass("m", start + 1s) == 2);
    CHECK(seen.pass("m", start + 1s) == 0);
}

TEST_CASE("the messages remembered are bounded", "[log]")
{
    log::dedup_filter seen(1);
    const auto start = std::chrono::steady_clock::time_point(1h);

    for (int i = 0; i < 10'000; ++i)
        CHECK(seen.pass("message " + std::to_string(i), start) == 0);
}
