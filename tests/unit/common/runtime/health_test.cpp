#include "common/runtime/health.hpp"

#include <catch2/catch.hpp>

using tempinbox::runtime::health;

TEST_CASE("ready once every condition was met, and never again from the drain on", "[runtime]")
{
    health health;
    health.expect("postgresql");
    health.expect("kafka");
    CHECK_FALSE(health.is_ready());

    health.met("postgresql");
    CHECK_FALSE(health.is_ready());
    health.met("kafka");
    CHECK(health.is_ready());

    health.start_draining();
    CHECK_FALSE(health.is_ready());
}

TEST_CASE("a dependency lost later degrades, it does not unready", "[runtime]")
{
    health health;
    health.expect("kafka");
    health.met("kafka");

    health.lost("kafka", "all brokers are down");
    CHECK(health.is_ready());
    CHECK(
        health.json() ==
        R"({"ready":true,"degraded":["kafka"],"waiting":{},"reasons":{"kafka":"all brokers are down"}})");

    health.met("kafka");
    CHECK(health.json() == R"({"ready":true,"degraded":[],"waiting":{},"reasons":{}})");
}

TEST_CASE("what was never met is waited for, with the reason", "[runtime]")
{
    health health;
    health.expect("kafka");
    health.expect("postgresql");
    health.lost("postgresql", "connection refused");

    CHECK_FALSE(health.is_ready());
    CHECK(
        health.json() ==
        R"({"ready":false,"degraded":[],"waiting":{"kafka":"not there yet","postgresql":"connection refused"},"reasons":{}})");
}

TEST_CASE("expecting what is met already changes nothing", "[runtime]")
{
    health health;
    health.met("kafka");
    health.expect("kafka");
    CHECK(health.is_ready());
}
