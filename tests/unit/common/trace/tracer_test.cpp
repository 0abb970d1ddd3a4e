#include "common/trace/tracer.hpp"
#include "unit/common/allocations.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using trace::span_kind;

namespace {

trace::settings settings_of(double ratio)
{
    trace::settings chosen;
    chosen.endpoint = "http://127.0.0.1:4318/v1/traces";
    chosen.sampler.ratio = ratio;
    return chosen;
}

struct scratch_tracer
{
    trace::settings chosen;
    metrics::registry registry;
    trace::tracer tracer{chosen, registry};

    explicit scratch_tracer(trace::settings given) : chosen(std::move(given)) {}
};

} // namespace

TEST_CASE("without an endpoint spans are empty", "[trace]")
{
    scratch_tracer off(trace::settings{});

    auto span = off.tracer.begin("work", span_kind::internal);
    span.set("key", 1);
    span.end();

    CHECK_FALSE(span.context().is_valid());
    CHECK_FALSE(span.is_recording());
    CHECK(off.tracer.queued() == 0);
    CHECK(off.registry.text().find("tempinbox_spans") == std::string::npos);
}

TEST_CASE("a child is in its parent's trace and names it", "[trace]")
{
    scratch_tracer on(settings_of(1));

    auto parent = on.tracer.begin("parent", span_kind::server);
    auto child = on.tracer.begin("child", span_kind::client, parent.context());
    child.end();
    parent.end();

    const auto spans = on.tracer.take(10);
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].name == "child");
    CHECK(spans[0].parent_span_id == spans[1].self.span.span_id());
    CHECK(spans[0].self.span.trace_id() == spans[1].self.span.trace_id());
    CHECK(spans[1].parent_span_id.empty());
    CHECK(spans[1].ended >= spans[1].began);
}

TEST_CASE("a trace that is not sampled has a context with flag 00 and no spans", "[trace]")
{
    scratch_tracer none(settings_of(0));

    {
        auto parent = none.tracer.begin("parent", span_kind::server);
        auto child = none.tracer.begin("child", span_kind::client, parent.context());
        CHECK(parent.context().span.text().ends_with("-00"));
        CHECK(child.context().span.text().ends_with("-00"));
        CHECK(child.context().span.trace_id() == parent.context().span.trace_id());
    }

    CHECK(none.tracer.queued() == 0);
}

TEST_CASE("a sampled parent is followed, with its tracestate", "[trace]")
{
    scratch_tracer none(settings_of(0));
    const auto cause =
        *trace::read_context("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1");

    auto span = none.tracer.begin("work", span_kind::server, cause);

    CHECK(span.is_recording());
    CHECK(span.context().tracestate == "vendor=1");
    CHECK(span.context().span.trace_id() == "0af7651916cd43dd8448eb211c80319c");
}

TEST_CASE("a stranger's span is linked, and does not decide", "[trace]")
{
    scratch_tracer on(settings_of(1)), none(settings_of(0));
    const auto stranger =
        *trace::traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

    CHECK_FALSE(none.tracer.begin_linked("work", span_kind::server, stranger).is_recording());
    on.tracer.begin_linked("work", span_kind::server, stranger).end();

    const auto spans = on.tracer.take(1);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].self.span.trace_id() != stranger.trace_id());
    CHECK(spans[0].parent_span_id.empty());
    REQUIRE(spans[0].links.size() == 1);
    CHECK(spans[0].links[0] == stranger);
}

TEST_CASE("links past 128 are counted only", "[trace]")
{
    scratch_tracer on(settings_of(1));

    auto span = on.tracer.begin("batch", span_kind::internal);
    for (int i = 0; i < 130; ++i)
        span.link(trace::traceparent::make());
    span.end();

    const auto spans = on.tracer.take(1);
    CHECK(spans[0].links.size() == 128);
    CHECK(spans[0].dropped_links == 2);
}

TEST_CASE("a full queue drops spans and counts them", "[trace]")
{
    scratch_tracer on(settings_of(1));

    for (std::size_t i = 0; i < trace::tracer::max_queued + 3; ++i)
        on.tracer.begin("work", span_kind::internal).end();

    CHECK(on.tracer.queued() == trace::tracer::max_queued);
    CHECK(on.registry.text().find("tempinbox_spans_dropped_total{reason=\"queue_full\"} 3") !=
          std::string::npos);
}

TEST_CASE("a span ends with its object, or is discarded", "[trace]")
{
    scratch_tracer on(settings_of(1));

    {
        auto first = on.tracer.begin("first", span_kind::internal);
        first = on.tracer.begin("second", span_kind::internal);
        auto dropped = on.tracer.begin("dropped", span_kind::internal);
        dropped.discard();
    }

    const auto spans = on.tracer.take(10);
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].name == "first");
    CHECK(spans[1].name == "second");
}

#ifdef TEMPINBOX_COUNTS_ALLOCATIONS

TEST_CASE("a span that is not recorded allocates nothing", "[trace]")
{
    scratch_tracer off(trace::settings{}), none(settings_of(0));
    const std::string name(100, 'n'), value(100, 'v'); // longer than a string holds in itself
    const auto cause = none.tracer.begin("parent", span_kind::server).context();
    const auto work = [&](trace::tracer& tracer) {
        const auto before = testing::allocations();
        auto span = tracer.begin(name, span_kind::client, cause);
        span.set("text", value);
        span.set("literal", "a literal that is longer than a string holds in itself");
        span.set("number", 1);
        span.rename(name);
        span.link(cause.span);
        span.fail(name, value);
        span.end();
        return testing::allocations() - before;
    };

    const auto while_off = work(off.tracer);
    const auto unsampled = work(none.tracer);
    const auto before = testing::allocations();
    const auto control = std::make_unique<int>(1);

    CHECK(while_off == 0);
    CHECK(unsampled == 0);
    CHECK(testing::allocations() > before);
    CHECK(*control == 1);
}

#endif
