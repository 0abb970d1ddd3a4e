#include "common/core/token_bucket.hpp"

#include "common/core/ids.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("an inbox takes a burst of 60 and then 120 messages a minute, whatever others get",
          "[core]")
{
    token_bucket<inbox_id> rates(120, 60);
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
    token_bucket<inbox_id> rates(0, 0);
    const auto inbox = inbox_id::make();
    for (int i = 0; i < 1'000; ++i)
        REQUIRE(rates.take(inbox, {}));
}

TEST_CASE("a token that was given back can be taken again, and the burst stays the most", "[core]")
{
    token_bucket<int> rates(1, 2);
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
