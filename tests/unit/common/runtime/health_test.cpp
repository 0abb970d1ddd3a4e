#include "common/runtime/health.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using tempinbox::runtime::health;

TEST_CASE("ready once every condition was met, and never again from the drain on", "[runtime]")
{
    metrics::registry registry;
    health health(registry);
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
    metrics::registry registry;
    health health(registry);
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
    metrics::registry registry;
    health health(registry);
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
    metrics::registry registry;
    health health(registry);
    health.met("kafka");
    health.expect("kafka");
    CHECK(health.is_ready());
}

TEST_CASE("metrics show readiness and each dependency", "[runtime]")
{
    metrics::registry registry;
    health health(registry);
    health.expect("kafka");
    CHECK_THAT(registry.text(), Catch::Contains("tempinbox_ready 0\n"));

    health.met("kafka");
    CHECK_THAT(registry.text(), Catch::Contains("tempinbox_ready 1\n"));
    CHECK_THAT(registry.text(),
               Catch::Contains("tempinbox_dependency_up{dependency=\"kafka\"} 1\n"));

    health.lost("kafka", "all brokers are down");
    CHECK_THAT(registry.text(), Catch::Contains("tempinbox_ready 1\n"));
    CHECK_THAT(registry.text(),
               Catch::Contains("tempinbox_dependency_up{dependency=\"kafka\"} 0\n"));

    health.start_draining();
    CHECK_THAT(registry.text(), Catch::Contains("tempinbox_ready 0\n"));
}
