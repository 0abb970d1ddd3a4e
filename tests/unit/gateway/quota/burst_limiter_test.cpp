#include "gateway/quota/burst_limiter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");

int passing(burst_limiter& limit, key_id key, int per_second, time_point now, int tries)
{
    int passed = 0;
    for (int i = 0; i < tries; ++i)
        passed += limit.take(key, per_second, now) ? 1 : 0;
    return passed;
}

} // namespace

TEST_CASE("a key may use its burst at once and then as fast as it refills", "[gateway][quota]")
{
    burst_limiter limit;
    const auto key = key_id::make();

    CHECK(passing(limit, key, 50, noon, 60) == 50);
    CHECK(passing(limit, key, 50, noon + 100ms, 60) == 5);
    CHECK(passing(limit, key, 50, noon + 10s, 60) == 50);
    CHECK(passing(limit, key_id::make(), 50, noon, 60) == 50);
}

TEST_CASE("a burst of zero is no limit, and a new plan's burst holds at once", "[gateway][quota]")
{
    burst_limiter limit;
    const auto key = key_id::make();

    CHECK(passing(limit, key, 0, noon, 1'000) == 1'000);
    CHECK(limit.size() == 0);
    CHECK(passing(limit, key, 200, noon, 300) == 200);
    CHECK(passing(limit, key, 50, noon + 1s, 300) == 50);
}

TEST_CASE("a clock that is set back takes no tokens away", "[gateway][quota]")
{
    burst_limiter limit;
    const auto key = key_id::make();

    CHECK(passing(limit, key, 50, noon, 10) == 10);
    CHECK(passing(limit, key, 50, noon - 1h, 60) == 40);
    CHECK(passing(limit, key, 50, noon - 1h + 1s, 60) == 50);
}

TEST_CASE("the table of keys is bounded: full buckets are evicted, and the rest passes",
          "[gateway][quota]")
{
    burst_limiter limit(100);
    for (int i = 0; i < 500; ++i)
        CHECK(limit.take(key_id::make(), 5, noon));
    CHECK(limit.size() == 100);

    CHECK(limit.take(key_id::make(), 5, noon + 2s));
    CHECK(limit.size() == 1);
}
