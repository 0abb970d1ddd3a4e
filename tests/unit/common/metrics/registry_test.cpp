#include "common/metrics/registry.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("a metric asked for twice is the same one", "[metrics]")
{
    metrics::registry registry;

    auto& first = registry.counter("requests_total", "Requests.", {{"route", "/a"}});
    auto& again = registry.counter("requests_total", "Requests.", {{"route", "/a"}});
    auto& other = registry.counter("requests_total", "Requests.", {{"route", "/b"}});

    CHECK(&first == &again);
    CHECK(&first != &other);
}

TEST_CASE("the text holds the metrics and those of the process", "[metrics]")
{
    metrics::registry registry;
    registry.counter("requests_total", "Requests.", {{"route", "/a"}}).Increment(2);
    registry.gauge("level", "Level.").Set(1.5);
    registry.histogram("took_seconds", "Took.", metrics::latency_buckets()).Observe(0.02);

    const auto text = registry.text();

    CHECK(text.find("requests_total{route=\"/a\"} 2") != std::string::npos);
    CHECK(text.find("level 1.5") != std::string::npos);
    CHECK(text.find("took_seconds_bucket{le=\"0.025\"} 1") != std::string::npos);
    CHECK(text.find("# TYPE process_resident_memory_bytes gauge") != std::string::npos);
    CHECK(text.find("process_open_fds ") != std::string::npos);
}

TEST_CASE("latency buckets begin at half a millisecond, wait buckets end at a minute", "[metrics]")
{
    metrics::registry registry;
    auto& latency = registry.histogram("latency_seconds", "Latency.", metrics::latency_buckets());
    auto& wait = registry.histogram("wait_seconds", "Wait.", metrics::wait_buckets());
    for (auto* one : {&latency, &wait})
        for (const double seconds : {.0004, .0008, .002, 20., 45.})
            one->Observe(seconds);

    const auto text = registry.text();

    for (const char* name : {"latency_seconds", "wait_seconds"}) {
        CHECK(text.find(std::string(name) + "_bucket{le=\"0.0005\"} 1\n") != std::string::npos);
        CHECK(text.find(std::string(name) + "_bucket{le=\"0.001\"} 2\n") != std::string::npos);
        CHECK(text.find(std::string(name) + "_bucket{le=\"0.0025\"} 3\n") != std::string::npos);
        CHECK(text.find(std::string(name) + "_bucket{le=\"10\"} 3\n") != std::string::npos);
    }
    CHECK(text.find("latency_seconds_bucket{le=\"30\"}") == std::string::npos);
    CHECK(text.find("wait_seconds_bucket{le=\"30\"} 4\n") != std::string::npos);
    CHECK(text.find("wait_seconds_bucket{le=\"60\"} 5\n") != std::string::npos);
}

TEST_CASE("process metrics are plausible", "[metrics]")
{
    const auto text = metrics::registry().text();
    const auto value = [&](const std::string& name) {
        const auto at = text.find("\n" + name + " ");
        REQUIRE(at != std::string::npos);
        return std::stod(text.substr(at + name.size() + 2));
    };

    CHECK(value("process_resident_memory_bytes") > 1e6);
    CHECK(value("process_open_fds") >= 3);
    CHECK(value("process_threads") >= 1);
    CHECK(value("process_start_time_seconds") > 1.6e9);
}
