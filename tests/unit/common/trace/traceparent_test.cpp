#include "common/trace/traceparent.hpp"

#include <catch2/catch.hpp>

using tempinbox::trace::read_context;
using tempinbox::trace::traceparent;

namespace {

const std::string some_text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

} // namespace

TEST_CASE("a traceparent is read and written", "[trace]")
{
    const auto parsed =
        traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

    REQUIRE(parsed);
    CHECK(parsed->trace_id() == "0af7651916cd43dd8448eb211c80319c");
    CHECK(parsed->span_id() == "b7ad6b7169203331");
    CHECK(parsed->text() == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}

TEST_CASE("the sampled bit survives, others do not", "[trace]")
{
    CHECK(traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
              ->text()
              .ends_with("-00"));
    CHECK(traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff")
              ->text()
              .ends_with("-01"));
}

TEST_CASE("a later version is read as 00, with whatever follows", "[trace]")
{
    const auto parsed = traceparent::parse(
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-brings");
    REQUIRE(parsed);
    CHECK(parsed->text() == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}

TEST_CASE("an invalid traceparent is ignored", "[trace]")
{
    const auto text = GENERATE("", "00", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                               "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                               "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                               "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                               "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                               "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
                               "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
                               "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    CAPTURE(text);
    CHECK_FALSE(traceparent::parse(text));
}

TEST_CASE("a child keeps the trace and has a span of its own", "[trace]")
{
    const auto parent = traceparent::make();
    const auto child = parent.child();

    CHECK(child.trace_id() == parent.trace_id());
    CHECK(child.span_id() != parent.span_id());
    CHECK(traceparent::parse(child.text()));
}

TEST_CASE("a new trace is not sampled until somebody decides it", "[trace]")
{
    const auto fresh = traceparent::make();

    CHECK(fresh.text().ends_with("-00"));
    CHECK(fresh.with_sampled(true).text().ends_with("-01"));
    CHECK(fresh.with_sampled(true).trace_id() == fresh.trace_id());
    CHECK_FALSE(traceparent().is_valid());
}

TEST_CASE("tracestate is kept up to 512 bytes, and dropped beyond", "[trace]")
{
    CHECK(read_context(some_text, std::string(512, 's'))->tracestate.size() == 512);

    const auto cut = read_context(some_text, std::string(513, 's'));
    REQUIRE(cut);
    CHECK(cut->span.text() == some_text);
    CHECK(cut->tracestate.empty());
}

TEST_CASE("tracestate counts only beside a valid traceparent", "[trace]")
{
    CHECK_FALSE(read_context(std::nullopt, "vendor=1"));
    CHECK_FALSE(read_context("rubbish", "vendor=1"));
    CHECK(read_context(some_text, std::nullopt)->tracestate.empty());
}
