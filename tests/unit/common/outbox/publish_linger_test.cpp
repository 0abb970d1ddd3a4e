#include "common/outbox/publish_linger.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using tempinbox::outbox::publish_linger;

namespace {

const publish_linger::time_point start{1h};

// How many of the evenly spread commits of one second may go at once.
int immediate(publish_linger& linger, int commits, std::chrono::seconds after,
              std::size_t events = 1)
{
    int allowed = 0;
    for (int i = 0; i < commits; ++i)
        allowed += linger.note_commit(events, start + after + i * 1'000'000us / commits) ? 1 : 0;
    return allowed;
}

// The delay once publishes of this size have become usual.
std::chrono::milliseconds delay_with(std::size_t events, std::chrono::milliseconds apart)
{
    publish_linger linger(start);
    for (int i = 1; i <= 20; ++i)
        linger.note_publish(events, start + i * apart);
    return linger.delay();
}

} // namespace

TEST_CASE("a few commits a second go at once, of many none after the first burst", "[outbox]")
{
    publish_linger linger(start);

    CHECK(immediate(linger, 20, 0s) == 20);
    CHECK(immediate(linger, 90, 1s) == 90);
    CHECK(immediate(linger, 1'000, 2s) < 30);
    CHECK(immediate(linger, 1'000, 3s) == 0);
    CHECK(immediate(linger, 150, 4s) == 0);
    CHECK(immediate(linger, 90, 5s) > 30);
    CHECK(immediate(linger, 90, 10s) == 90);
}

TEST_CASE("the events of a few large commits a second are batched as those of many small ones are",
          "[outbox]")
{
    publish_linger linger(start);

    CHECK(immediate(linger, 50, 0s, 2) > 45);
    CHECK(immediate(linger, 50, 1s, 30) <= 2);
    CHECK(immediate(linger, 50, 2s, 30) == 0);
    // Soon after the rush a commit goes at once again, also a large one.
    CHECK(linger.note_commit(30, start + 3s + 250ms));
    CHECK_FALSE(linger.note_commit(1, start + 3s + 260ms));
    // A huge commit costs a broker no more than a request for each partition.
    CHECK(immediate(linger, 4, 4s, 500) == 4);
}

TEST_CASE("the delay grows with the rate of events, within bounds", "[outbox]")
{
    CHECK(publish_linger(start).delay() == 20ms);
    CHECK(delay_with(3, 20ms) == 20ms);
    CHECK(delay_with(20, 20ms) == 20ms);
    CHECK(delay_with(66, 33ms) == 33ms); // 2,000 a second
    CHECK(delay_with(300, 100ms) == 50ms);
    CHECK(delay_with(600, 100ms) == 100ms);
    CHECK(delay_with(5'000, 100ms) == 100ms);
    CHECK(delay_with(10, 0ms) == 100ms); // a clock that stood still
}

TEST_CASE("the delay grows with the time that Kafka takes, within bounds", "[outbox]")
{
    publish_linger linger(start);
    const auto delay_after = [&](std::chrono::milliseconds took) {
        for (int i = 0; i < 30; ++i)
            linger.note_acknowledged(took);
        return linger.delay();
    };

    CHECK(delay_after(2ms) == 20ms);
    CHECK(delay_after(15ms) == 45ms);
    CHECK(delay_after(20s) == 50ms);
    CHECK(delay_after(3ms) == 20ms);
}

TEST_CASE("a rush that is over no longer delays anything", "[outbox]")
{
    publish_linger linger(start);
    linger.note_publish(5'000, start + 100ms);
    REQUIRE(linger.delay() == 100ms);

    for (int i = 1; i <= 10; ++i)
        linger.note_publish(1, start + 1s + i * 50ms);

    CHECK(linger.delay() == 20ms);
}
