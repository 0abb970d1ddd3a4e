#include "webhook-dispatcher/delivery/circuit_breaker.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::webhooks;
using namespace std::chrono_literals;
using permit = circuit_breaker::permit;

namespace {

const circuit_breaker::time start = circuit_breaker::time{} + 1000h;

void fail_times(circuit_breaker& circuit, int times, double weight, circuit_breaker::time now)
{
    for (int i = 0; i < times; ++i)
        circuit.failed(permit::normal, weight, now);
}

} // namespace

TEST_CASE("the breaker opens after five failures in a row", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;

    fail_times(circuit, 4, 1, start);
    CHECK(circuit.acquire(start) == permit::normal);
    circuit.failed(permit::normal, 1, start);

    CHECK(circuit.is_open(start));
    CHECK(circuit.acquire(start) == permit::refused);
    CHECK(circuit.open_until() == start + 30s);
}

TEST_CASE("a success between failures starts the row again", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;

    for (int round = 0; round < 3; ++round) {
        fail_times(circuit, 4, 1, start + round * 100s);
        circuit.succeeded(permit::normal, start + round * 100s);
    }

    CHECK(circuit.acquire(start) == permit::normal);
    CHECK(circuit.is_clean(start + 200s));
}

TEST_CASE("failures of half weight need ten in a row", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;

    fail_times(circuit, 9, 0.5, start);
    CHECK_FALSE(circuit.is_open(start));
    fail_times(circuit, 1, 0.5, start);

    CHECK(circuit.is_open(start));
}

TEST_CASE("failures without weight never open it", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;

    fail_times(circuit, 100, 0, start);

    CHECK(circuit.acquire(start) == permit::normal);
}

TEST_CASE("half of twenty in a minute opens it though none are in a row",
          "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;

    for (int i = 0; i < 10; ++i) {
        CHECK_FALSE(circuit.is_open(start + i * 2s));
        circuit.succeeded(permit::normal, start + i * 2s);
        circuit.failed(permit::normal, 1, start + i * 2s);
    }

    CHECK(circuit.is_open(start + 18s));
}

TEST_CASE("what is older than a minute does not count", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;

    for (int i = 0; i < 40; ++i) {
        circuit.succeeded(permit::normal, start + i * 8s);
        circuit.failed(permit::normal, 1, start + i * 8s);
    }

    CHECK_FALSE(circuit.is_open(start + 320s));
}

TEST_CASE("after the open time one probe goes, and its success closes the breaker",
          "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    fail_times(circuit, 5, 1, start);

    CHECK(circuit.acquire(start + 29s) == permit::refused);
    CHECK(circuit.acquire(start + 30s) == permit::probe);
    CHECK(circuit.acquire(start + 31s) == permit::refused);
    circuit.succeeded(permit::probe, start + 32s);

    CHECK(circuit.acquire(start + 32s) == permit::normal);
    CHECK(circuit.is_clean(start + 32s));
}

TEST_CASE("each failed probe doubles the open time, up to fifteen minutes",
          "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    fail_times(circuit, 5, 1, start);

    const std::chrono::seconds open_times[] = {60s, 120s, 240s, 480s, 900s, 900s};
    auto now = start + 30s;
    for (const auto open_time : open_times) {
        REQUIRE(circuit.acquire(now) == permit::probe);
        circuit.failed(permit::probe, 1, now);
        CHECK(circuit.open_until() == now + open_time);
        now += open_time;
    }
}

TEST_CASE("a probe that taught nothing is given again at once", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    fail_times(circuit, 5, 1, start);

    REQUIRE(circuit.acquire(start + 30s) == permit::probe);
    circuit.abandoned(permit::probe);

    CHECK(circuit.acquire(start + 30s) == permit::probe);
}

TEST_CASE("answers to requests sent before it opened change nothing", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    fail_times(circuit, 5, 1, start);
    const auto until = circuit.open_until();

    circuit.failed(permit::normal, 1, start + 5s);
    circuit.succeeded(permit::normal, start + 6s);

    CHECK(circuit.open_until() == until);
    CHECK(circuit.acquire(start + 7s) == permit::refused);
}

TEST_CASE("where the receiver may have changed, the probe goes at once",
          "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    fail_times(circuit, 5, 1, start);
    REQUIRE(circuit.acquire(start + 1s) == permit::refused);

    circuit.probe_now(start + 2s);

    REQUIRE(circuit.acquire(start + 2s) == permit::probe);
    CHECK(circuit.acquire(start + 2s) == permit::refused);
    circuit.succeeded(permit::probe, start + 3s);
    CHECK(circuit.acquire(start + 3s) == permit::normal);
}

TEST_CASE("probing a closed breaker at once changes nothing", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    fail_times(circuit, 4, 1, start);

    circuit.probe_now(start + 1s);

    CHECK(circuit.acquire(start + 1s) == permit::normal);
    circuit.failed(permit::normal, 1, start + 1s);
    CHECK(circuit.is_open(start + 2s));
}

TEST_CASE("failures are dropped when nothing was sent for an hour", "[webhooks][circuit_breaker]")
{
    circuit_breaker circuit;
    circuit.failed(permit::normal, 1, start);
    CHECK_FALSE(circuit.is_clean(start + 59min));
    CHECK(circuit.is_clean(start + 60min));

    fail_times(circuit, 5, 1, start + 1s);
    CHECK(circuit.acquire(start + 40min) == permit::probe);
    circuit.abandoned(permit::probe);
    CHECK_FALSE(circuit.is_clean(start + 99min));
    CHECK(circuit.is_clean(start + 100min));
}
