#include "common/log/log.hpp"

#include "common/json/value.hpp"
#include "common/trace/current.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdio>
#include <functional>

using namespace tempinbox;

namespace {

// The lines that `write` puts on standard output, at level info.
std::vector<std::string> lines_of(const std::function<void()>& write)
{
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::tmpfile(), close);
    std::fflush(stdout);
    const int before = ::dup(STDOUT_FILENO);
    ::dup2(::fileno(file.get()), STDOUT_FILENO);
    log::set_level(log::level::info);
    write();
    log::set_level(log::level::error); // as other tests have it
    std::fflush(stdout);
    ::dup2(before, STDOUT_FILENO);
    ::close(before);

    std::rewind(file.get());
    std::vector<std::string> lines;
    char line[4096];
    while (std::fgets(line, sizeof line, file.get()) != nullptr)
        lines.emplace_back(line);
    return lines;
}

void audit_often(const char* message)
{
    for (int i = 0; i < 50; ++i)
        log::audit(message, {{"number", i}});
}

} // namespace

TEST_CASE("a line written in a context names its trace and span", "[log][trace]")
{
    const trace::context here(trace::traceparent::make());

    const auto lines = lines_of([&] {
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
    const auto lines = lines_of([] { log::info("outside of any context"); });

    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("trace_id") == std::string::npos);
}

TEST_CASE("audit lines are sampled, all or none", "[log]")
{
    using log::volume;
    const auto count = [](volume chosen, const char* message) {
        log::set_volume(log::line_class::audit, chosen);
        const auto lines = lines_of([message] { audit_often(message); });
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
