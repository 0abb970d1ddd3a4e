#include "common/log/log.hpp"

#include "common/json/value.hpp"
#include "common/trace/current.hpp"
#include "unit/common/log/captured_lines.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::captured_lines;

namespace {

void audit_often(const char* message)
{
    for (int i = 0; i < 50; ++i)
        log::audit(message, {{"number", i}});
}

} // namespace

TEST_CASE("a line written in a context names its trace and span", "[log][trace]")
{
    const trace::context here(trace::traceparent::make());

    const auto lines = captured_lines([&] {
        const trace::scope entered(here);
        log::info("within a context", {{"topic", "x"}});
    });

    REQUIRE(lines.size() == 1);
    const auto line = json::value::parse(lines[0]);
    REQUIRE(line);
    CHECK(line->find("trace_id")->text() == here.span.trace_id());
    CHECK(line->find("span_id")->text() == here.span.span_id());
    CHECK(line->find("topic")->text() == "x");
}

TEST_CASE("a line written outside names none", "[log][trace]")
{
    const auto lines = captured_lines([] { log::info("outside of any context"); });

    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("trace_id") == std::string::npos);
}

TEST_CASE("audit lines are sampled, all or none", "[log]")
{
    using log::volume;
    const auto count = [](volume chosen, const char* message) {
        log::set_volume(log::line_class::audit, chosen);
        const auto lines = captured_lines([message] { audit_often(message); });
        log::set_volume(log::line_class::audit, volume::sampled);
        return lines.size();
    };

    CHECK(count(volume::sampled, "sampled audit line") >= 20);
    CHECK(count(volume::sampled, "other sampled audit line") < 50);
    CHECK(count(volume::all, "each audit line") == 50);
    CHECK(count(volume::none, "no audit line") == 0);
}

TEST_CASE("access lines are off by default", "[log]")
{
    CHECK_FALSE(log::writes(log::line_class::access));
    CHECK(log::writes(log::line_class::audit));
    CHECK(log::parse_volume("all") == log::volume::all);
    CHECK_FALSE(log::parse_volume("some"));
}
