#include "common/core/token_bucket.hpp"

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

using key_bucket = token_bucket<key_id, time_point>;

const auto wall_noon = *parse_iso8601("2026-11-21T12:00:00Z");

int passing(key_bucket& limit, key_id key, int per_second, time_point now, int tries)
{
    int passed = 0;
    for (int i = 0; i < tries; ++i)
        passed += limit.take(key, token_rate::per_second(per_second), now) ? 1 : 0;
    return passed;
}

} // namespace

TEST_CASE("an inbox takes a burst of 60 and then 120 messages a minute, whatever others get",
          "[core]")
{
    token_bucket<inbox_id> rates(token_rate::per_minute(120, 60));
    const auto flooded = inbox_id::make();
    const token_bucket<inbox_id>::time_point noon{std::chrono::hours(12)};
    for (int i = 0; i < 60; ++i)
        REQUIRE(rates.take(flooded, noon));
    CHECK_FALSE(rates.take(flooded, noon));
    CHECK(rates.take(inbox_id::make(), noon));

    CHECK(rates.take(flooded, noon + std::chrono::milliseconds(500)));
    CHECK_FALSE(rates.take(flooded, noon + std::chrono::milliseconds(500)));
    for (int i = 0; i < 60; ++i)
        REQUIRE(rates.take(flooded, noon + std::chrono::hours(1)));
    CHECK_FALSE(rates.take(flooded, noon + std::chrono::hours(1)));
}

TEST_CASE("a rate can be off", "[core]")
{
    token_bucket<inbox_id> rates(token_rate::per_minute(0, 0));
    const auto inbox = inbox_id::make();
    for (int i = 0; i < 1'000; ++i)
        REQUIRE(rates.take(inbox, {}));
}

TEST_CASE("a token that was given back can be taken again, and the burst stays the most", "[core]")
{
    token_bucket<int> rates(token_rate::per_minute(1, 2));
    const token_bucket<int>::time_point noon{std::chrono::hours(12)};
    rates.give_back(1);
    REQUIRE(rates.take(1, noon));
    REQUIRE(rates.take(1, noon));
    CHECK_FALSE(rates.has(1, noon));
    rates.give_back(1);
    CHECK(rates.has(1, noon));
    rates.give_back(1);
    rates.give_back(1);
    CHECK(rates.take(1, noon));
    CHECK(rates.take(1, noon));
    CHECK_FALSE(rates.take(1, noon));
}

TEST_CASE("a key may use its burst at once and then as fast as it refills", "[core]")
{
    key_bucket limit;
    const auto key = key_id::make();

    CHECK(passing(limit, key, 50, wall_noon, 60) == 50);
    CHECK(passing(limit, key, 50, wall_noon + 100ms, 60) == 5);
    CHECK(passing(limit, key, 50, wall_noon + 10s, 60) == 50);
    CHECK(passing(limit, key_id::make(), 50, wall_noon, 60) == 50);
}

TEST_CASE("a rate of zero is no limit, and a key's new rate holds at once", "[core]")
{
    key_bucket limit;
    const auto key = key_id::make();

    CHECK(passing(limit, key, 0, wall_noon, 1'000) == 1'000);
    CHECK(limit.size() == 0);
    CHECK(passing(limit, key, 200, wall_noon, 300) == 200);
    CHECK(passing(limit, key, 50, wall_noon + 1s, 300) == 50);
}

TEST_CASE("a clock that is set back takes no tokens away", "[core]")
{
    key_bucket limit;
    const auto key = key_id::make();

    CHECK(passing(limit, key, 50, wall_noon, 10) == 10);
    CHECK(passing(limit, key, 50, wall_noon - 1h, 60) == 40);
    CHECK(passing(limit, key, 50, wall_noon - 1h + 1s, 60) == 50);
}

TEST_CASE("the buckets are bounded: the least recently used key starts anew", "[core]")
{
    key_bucket limit(100);
    const auto first = key_id::make();
    CHECK(passing(limit, first, 5, wall_noon, 10) == 5);
    for (int i = 0; i < 500; ++i)
        CHECK(passing(limit, key_id::make(), 5, wall_noon, 1) == 1);

    CHECK(limit.size() == 100);
    CHECK(passing(limit, first, 5, wall_noon, 10) == 5);
}

TEST_CASE("what is taken beyond the tokens is waited for in full", "[core]")
{
    key_bucket limit(100);
    const auto key = key_id::make();
    const auto rate = token_rate::per_second(10);
    CHECK(limit.take(key, rate, wall_noon));

    limit.take_beyond(key, rate, 29, wall_noon);

    CHECK(limit.wait(key, rate, wall_noon).count() == Approx(2.1));
    CHECK_FALSE(limit.take(key, rate, wall_noon + 2s));
    CHECK(limit.wait(key, rate, wall_noon + 2s).count() == Approx(0.1));
    CHECK(limit.take(key, rate, wall_noon + 2200ms));
    const auto unlimited = token_rate::per_second(0);
    limit.take_beyond(key, unlimited, 29, wall_noon + 2200ms);
    CHECK(limit.wait(key, unlimited, wall_noon + 2200ms).count() == 0);
}

TEST_CASE("an overdrawn bucket owes no more than what was last taken", "[core]")
{
    const token_rate rate = token_rate::per_second(10);
    const auto noon = wall_noon;
    token_count<time_point> left(rate, noon);

    left.overdraw(8);
    CHECK(left.refill(rate, noon) == 2);
    left.overdraw(8);
    CHECK(left.refill(rate, noon) == -6);
    left.overdraw(4);
    CHECK(left.refill(rate, noon) == -4);
    CHECK(left.refill(rate, noon + 500ms) == 1);
}
