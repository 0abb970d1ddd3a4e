#include "webhook-dispatcher/delivery/breaker.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::webhooks;
using namespace std::chrono_literals;
using permit = breaker::permit;

namespace {

const breaker::time start = breaker::time{} + 1000h;

void fail_times(breaker& judged, int times, double weight, breaker::time now)
{
    for (int i = 0; i < times; ++i)
        judged.failed(permit::normal, weight, now);
}

} // namespace

TEST_CASE("the breaker opens after five failures in a row", "[webhooks][breaker]")
{
    breaker judged;

    fail_times(judged, 4, 1, start);
    CHECK(judged.ask(start) == permit::normal);
    judged.failed(permit::normal, 1, start);

    CHECK(judged.is_open(start));
    CHECK(judged.ask(start) == permit::refused);
    CHECK(judged.open_until() == start + 30s);
}

TEST_CASE("a success between failures starts the row again", "[webhooks][breaker]")
{
    breaker judged;

    for (int round = 0; round < 3; ++round) {
        fail_times(judged, 4, 1, start + round * 100s);
        judged.succeeded(permit::normal, start + round * 100s);
    }

    CHECK(judged.ask(start) == permit::normal);
    CHECK(judged.is_clean(start + 200s));
}

TEST_CASE("failures of half weight need ten in a row", "[webhooks][breaker]")
{
    breaker judged;

    fail_times(judged, 9, 0.5, start);
    CHECK_FALSE(judged.is_open(start));
    fail_times(judged, 1, 0.5, start);

    CHECK(judged.is_open(start));
}

TEST_CASE("failures without weight never open it", "[webhooks][breaker]")
{
    breaker judged;

    fail_times(judged, 100, 0, start);

    CHECK(judged.ask(start) == permit::normal);
}

TEST_CASE("half of twenty in a minute opens it though none are in a row", "[webhooks][breaker]")
{
    breaker judged;

    for (int i = 0; i < 10; ++i) {
        CHECK_FALSE(judged.is_open(start + i * 2s));
        judged.succeeded(permit::normal, start + i * 2s);
        judged.failed(permit::normal, 1, start + i * 2s);
    }

    CHECK(judged.is_open(start + 18s));
}

TEST_CASE("what is older than a minute does not count", "[webhooks][breaker]")
{
    breaker judged;

    for (int i = 0; i < 40; ++i) {
        judged.succeeded(permit::normal, start + i * 8s);
        judged.failed(permit::normal, 1, start + i * 8s);
    }

    CHECK_FALSE(judged.is_open(start + 320s));
}

TEST_CASE("after the pause one probe goes, and its success closes the breaker",
          "[webhooks][breaker]")
{
    breaker judged;
    fail_times(judged, 5, 1, start);

    CHECK(judged.ask(start + 29s) == permit::refused);
    CHECK(judged.ask(start + 30s) == permit::probe);
    CHECK(judged.ask(start + 31s) == permit::refused);
    judged.succeeded(permit::probe, start + 32s);

    CHECK(judged.ask(start + 32s) == permit::normal);
    CHECK(judged.is_clean(start + 32s));
}

TEST_CASE("each failed probe doubles the pause, up to fifteen minutes", "[webhooks][breaker]")
{
    breaker judged;
    fail_times(judged, 5, 1, start);

    const std::chrono::seconds pauses[] = {60s, 120s, 240s, 480s, 900s, 900s};
    auto now = start + 30s;
    for (const auto pause : pauses) {
        REQUIRE(judged.ask(now) == permit::probe);
        judged.failed(permit::probe, 1, now);
        CHECK(judged.open_until() == now + pause);
        now += pause;
    }
}

TEST_CASE("a probe that taught nothing is given again at once", "[webhooks][breaker]")
{
    breaker judged;
    fail_times(judged, 5, 1, start);

    REQUIRE(judged.ask(start + 30s) == permit::probe);
    judged.abandoned(permit::probe);

    CHECK(judged.ask(start + 30s) == permit::probe);
}

TEST_CASE("answers to requests sent before it opened change nothing", "[webhooks][breaker]")
{
    breaker judged;
    fail_times(judged, 5, 1, start);
    const auto until = judged.open_until();

    judged.failed(permit::normal, 1, start + 5s);
    judged.succeeded(permit::normal, start + 6s);

    CHECK(judged.open_until() == until);
    CHECK(judged.ask(start + 7s) == permit::refused);
}

TEST_CASE("where the receiver may have changed, the probe goes at once", "[webhooks][breaker]")
{
    breaker judged;
    fail_times(judged, 5, 1, start);
    REQUIRE(judged.ask(start + 1s) == permit::refused);

    judged.look_again(start + 2s);

    REQUIRE(judged.ask(start + 2s) == permit::probe);
    CHECK(judged.ask(start + 2s) == permit::refused);
    judged.succeeded(permit::probe, start + 3s);
    CHECK(judged.ask(start + 3s) == permit::normal);
}

TEST_CASE("looking again at a closed breaker changes nothing", "[webhooks][breaker]")
{
    breaker judged;
    fail_times(judged, 4, 1, start);

    judged.look_again(start + 1s);

    CHECK(judged.ask(start + 1s) == permit::normal);
    judged.failed(permit::normal, 1, start + 1s);
    CHECK(judged.is_open(start + 2s));
}

TEST_CASE("failures are forgotten when nothing was asked for an hour", "[webhooks][breaker]")
{
    breaker judged;
    judged.failed(permit::normal, 1, start);
    CHECK_FALSE(judged.is_clean(start + 59min));
    CHECK(judged.is_clean(start + 60min));

    fail_times(judged, 5, 1, start + 1s);
    CHECK(judged.ask(start + 40min) == permit::probe);
    judged.abandoned(permit::probe);
    CHECK_FALSE(judged.is_clean(start + 99min));
    CHECK(judged.is_clean(start + 100min));
}
