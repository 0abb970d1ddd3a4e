#include "common/trace/settings.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

trace::settings read(std::map<std::string, std::string> values, std::size_t problems = 0)
{
    config::reader reader(std::move(values));
    auto chosen = trace::read_settings(reader);
    CAPTURE(reader.problems());
    CHECK(reader.problems().size() == problems);
    return chosen;
}

} // namespace

TEST_CASE("tracing is off by default", "[trace]")
{
    CHECK(read({}).endpoint.empty());
}

TEST_CASE("the endpoint of all signals gets the path of traces", "[trace]")
{
    constexpr const char* base = "otel-exporter-otlp-endpoint";
    constexpr const char* own = "otel-exporter-otlp-traces-endpoint";

    CHECK(read({{base, "http://collector:4318"}}).endpoint == "http://collector:4318/v1/traces");
    CHECK(read({{base, "http://collector:4318/"}}).endpoint == "http://collector:4318/v1/traces");
    CHECK(read({{own, "https://one.example/in"}}).endpoint == "https://one.example/in");
    CHECK(read({{base, "http://collector:4318"}, {own, "http://other:1/x"}}).endpoint ==
          "http://other:1/x");
    read({{base, "collector:4317"}}, 1);
}

TEST_CASE("the SDK's switch turns tracing off whatever the endpoint", "[trace]")
{
    CHECK(read({{"otel-exporter-otlp-endpoint", "http://collector:4318"},
                {"otel-sdk-disabled", "true"}})
              .endpoint.empty());
}

TEST_CASE("a ratio alone samples by it, following parents", "[trace]")
{
    const auto chosen = read({{"otel-traces-sampler-arg", "0.1"}});

    CHECK(chosen.sampler.ratio == 0.1);
    CHECK(chosen.sampler.is_parent_based);
}

TEST_CASE("wrong tracing settings are reported together", "[trace]")
{
    read({{"otel-traces-sampler", "xray"},
          {"otel-traces-sampler-arg", "1.5"},
          {"otel-exporter-otlp-headers", "no-value"},
          {"otel-resource-attributes", "=x"}},
         4);
    read({{"otel-traces-sampler-arg", "nan"}}, 1);
}

TEST_CASE("headers and attributes are percent-decoded pairs", "[trace]")
{
    const auto chosen = read({{"otel-exporter-otlp-headers", "authorization=Basic%20abc=,x=1"},
                              {"otel-resource-attributes", "deployment.environment.name=prod"}});

    REQUIRE(chosen.headers.size() == 2);
    CHECK(chosen.headers[0] == std::pair<std::string, std::string>("authorization", "Basic abc="));
    REQUIRE(chosen.resource_attributes.size() == 1);
    CHECK(chosen.resource_attributes[0].first == "deployment.environment.name");
    CHECK_FALSE(trace::parse_pairs("a=%4"));
    CHECK_FALSE(trace::parse_pairs("a=%zz"));
}

TEST_CASE("header values are secret", "[trace]")
{
    config::reader reader({{"otel-exporter-otlp-headers", "authorization=hidden-token"}});
    trace::read_settings(reader);

    CHECK(reader.effective().find("hidden-token") == std::string::npos);
}
