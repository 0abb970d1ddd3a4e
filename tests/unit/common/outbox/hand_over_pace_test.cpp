#include "common/outbox/hand_over_pace.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using tempinbox::outbox::hand_over_pace;

namespace {

const hand_over_pace::time_point start{1h};

// How many of the commits of a second, evenly spread, may go at once.
int at_once(hand_over_pace& pace, int commits, std::chrono::seconds after, std::size_t events = 1)
{
    int allowed = 0;
    for (int i = 0; i < commits; ++i)
        allowed += pace.note_commit(events, start + after + i * 1'000'000us / commits) ? 1 : 0;
    return allowed;
}

// The step once such hand-overs have become usual.
std::chrono::milliseconds step_with(std::size_t events, std::chrono::milliseconds apart)
{
    hand_over_pace pace(start);
    for (int i = 1; i <= 20; ++i)
        pace.note_hand_over(events, start + i * apart);
    return pace.step();
}

} // namespace

TEST_CASE("a few commits a second go at once, of many none after the first burst", "[outbox]")
{
    hand_over_pace pace(start);

    CHECK(at_once(pace, 20, 0s) == 20);
    CHECK(at_once(pace, 90, 1s) == 90);
    CHECK(at_once(pace, 1'000, 2s) < 30);
    CHECK(at_once(pace, 1'000, 3s) == 0);
    CHECK(at_once(pace, 150, 4s) == 0);
    CHECK(at_once(pace, 90, 5s) > 30);
    CHECK(at_once(pace, 90, 10s) == 90);
}

TEST_CASE("the events of a few large commits a second gather as those of many small ones do",
          "[outbox]")
{
    hand_over_pace pace(start);

    CHECK(at_once(pace, 50, 0s, 2) > 45);
    CHECK(at_once(pace, 50, 1s, 30) <= 2);
    CHECK(at_once(pace, 50, 2s, 30) == 0);
    // Soon after the rush a commit goes at once again, also a large one.
    CHECK(pace.note_commit(30, start + 3s + 250ms));
    CHECK_FALSE(pace.note_commit(1, start + 3s + 260ms));
    // The largest cost a broker no more than its partitions.
    CHECK(at_once(pace, 4, 4s, 500) == 4);
}

TEST_CASE("steps are the longer the more events come, within bounds", "[outbox]")
{
    CHECK(hand_over_pace(start).step() == 20ms);
    CHECK(step_with(3, 20ms) == 20ms);
    CHECK(step_with(10, 20ms) == 50ms);
    CHECK(step_with(100, 100ms) == 100ms);
    CHECK(step_with(700, 100ms) == 100ms);
    CHECK(step_with(1, 0ms) == 100ms); // a clock that stood still
}

TEST_CASE("a rush that is over is forgotten", "[outbox]")
{
    hand_over_pace pace(start);
    pace.note_hand_over(5'000, start + 100ms);
    REQUIRE(pace.step() == 100ms);

    for (int i = 1; i <= 10; ++i)
        pace.note_hand_over(1, start + 1s + i * 50ms);

    CHECK(pace.step() == 20ms);
}
