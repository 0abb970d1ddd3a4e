#include "common/trace/sampler.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using trace::traceparent;

namespace {

const auto sampled = traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
const auto unsampled =
    traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
// The last 8 bytes, halved, are 1/4 of their range.
const auto at_a_quarter =
    *traceparent::parse("00-0af7651916cd43dd4000000000000000-b7ad6b7169203331-00");

bool samples(std::string_view name, double ratio, const std::optional<traceparent>& parent,
             const traceparent& fresh = at_a_quarter)
{
    return trace::make_sampler(name, ratio).value().samples(parent, fresh);
}

} // namespace

TEST_CASE("the table of samplers", "[trace]")
{
    struct row
    {
        const char* name;
        bool without_parent, with_sampled_parent, with_unsampled_parent;
    };
    const auto [name, without, with_sampled, with_unsampled] = GENERATE(
        row{"always_on", true, true, true}, row{"always_off", false, false, false},
        row{"traceidratio", false, false, false}, row{"parentbased_always_on", true, true, false},
        row{"parentbased_always_off", false, true, false},
        row{"parentbased_traceidratio", false, true, false});
    CAPTURE(name);

    CHECK(samples(name, 0.25, std::nullopt) == without);
    CHECK(samples(name, 0.25, sampled) == with_sampled);
    CHECK(samples(name, 0.25, unsampled) == with_unsampled);
}

TEST_CASE("a ratio takes the trace ids below it", "[trace]")
{
    CHECK(samples("traceidratio", 0.26, std::nullopt));
    CHECK_FALSE(samples("traceidratio", 0.25, std::nullopt));
    CHECK_FALSE(samples("traceidratio", 0, std::nullopt));
    CHECK(samples("traceidratio", 1, std::nullopt));
}

TEST_CASE("a ratio is what comes out over many traces", "[trace]")
{
    int taken = 0;
    for (int i = 0; i < 10'000; ++i)
        taken += samples("parentbased_traceidratio", 0.1, std::nullopt, traceparent::make());

    CHECK(taken > 700);
    CHECK(taken < 1'300);
}

TEST_CASE("other samplers are unknown", "[trace]")
{
    CHECK_FALSE(trace::make_sampler("xray", 1));
    CHECK_FALSE(trace::make_sampler("parentbased_", 1));
}
