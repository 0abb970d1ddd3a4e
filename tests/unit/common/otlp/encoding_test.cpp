#include "common/otlp/encoding.hpp"

#include "common/core/version.hpp"
#include "common/json/value.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace tempinbox;

namespace {

const auto self =
    *trace::traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
const auto other =
    *trace::traceparent::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");

trace::span_record some_span()
{
    trace::span_record span;
    span.name = "send email.received";
    span.kind = trace::span_kind::producer;
    span.self = trace::context(self, "vendor=1");
    span.parent_span_id = "1111111111111111";
    span.began =
        std::chrono::system_clock::time_point(std::chrono::nanoseconds(1'764'000'000'000'000'001));
    span.ended = span.began + std::chrono::milliseconds(2);
    span.attributes = {{"text", std::string("a\"b")},
                       {"count", std::int64_t{9'007'199'254'740'993}},
                       {"part", 0.5},
                       {"is_late", true}};
    span.links = {other};
    span.dropped_links = 3;
    span.status = trace::span_status::error;
    span.status_message = "not acknowledged";
    return span;
}

trace::attribute_list resource(const trace::settings& chosen,
                               std::map<std::string, std::string> variables)
{
    return otlp::resource_of(
        "inbox", "abc", chosen, [&](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        });
}

std::string text_of(const trace::attribute_list& attributes, std::string_view key)
{
    for (const auto& [name, value] : attributes)
        if (name == key)
            return std::get<std::string>(value);
    return "absent";
}

} // namespace

TEST_CASE("a request has the shape of OTLP's JSON", "[otlp]")
{
    // opentelemetry-proto 1.x, "JSON Protobuf Encoding": hex ids, 64-bit integers as strings, enums
    // as numbers, lowerCamelCase names.
    CHECK(
        otlp::encode({{"service.name", std::string("x")}}, {some_span()}) ==
        R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]},)"
        R"("scopeSpans":[{"scope":{"name":"tempinbox","version":")" +
            std::string(version()) +
            R"("},"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","flags":1,)"
            R"("traceState":"vendor=1","parentSpanId":"1111111111111111","name":"send email.received","kind":4,)"
            R"("startTimeUnixNano":"1764000000000000001","endTimeUnixNano":"1764000000002000001",)"
            R"("attributes":[{"key":"text","value":{"stringValue":"a\"b"}},)"
            R"({"key":"count","value":{"intValue":"9007199254740993"}},)"
            R"({"key":"part","value":{"doubleValue":0.5}},{"key":"is_late","value":{"boolValue":true}}],)"
            R"("links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","flags":0}],)"
            R"("droppedLinksCount":3,"status":{"code":2,"message":"not acknowledged"}}],)"
            R"("schemaUrl":"https://opentelemetry.io/schemas/1.37.0"}]}]})");
}

TEST_CASE("a span without parent, links and status leaves them out", "[otlp]")
{
    auto span = some_span();
    span.self = self;
    span.parent_span_id.clear();
    span.links.clear();
    span.dropped_links = 0;
    span.status = trace::span_status::unset;

    const auto text = otlp::encode({}, {span});

    CHECK(json::value::parse(text));
    for (const auto* absent : {"parentSpanId", "traceState", "links", "droppedLinks", "status"})
        CHECK(text.find(absent) == std::string::npos);
}

TEST_CASE("the resource says which process, and in Kubernetes which pod", "[otlp]")
{
    const auto alone = resource({}, {});
    CHECK(text_of(alone, "service.name") == "tempinbox-inbox");
    CHECK(text_of(alone, "service.namespace") == "tempinbox");
    CHECK(text_of(alone, "service.instance.id") == "abc");
    CHECK(text_of(alone, "k8s.pod.name") == "absent");

    const auto pod = resource({}, {{"POD_NAME", "inbox-7d"}, {"POD_UID", "u-1"}});
    CHECK(text_of(pod, "service.instance.id") == "u-1");
    CHECK(text_of(pod, "k8s.pod.name") == "inbox-7d");
}

TEST_CASE("the settings' attributes win, and the service's name over them", "[otlp]")
{
    trace::settings chosen;
    chosen.resource_attributes = {{"service.name", std::string("from attributes")},
                                  {"deployment.environment.name", std::string("prod")}};
    CHECK(text_of(resource(chosen, {}), "service.name") == "from attributes");

    chosen.service_name = "chosen";
    const auto named = resource(chosen, {});
    CHECK(text_of(named, "service.name") == "chosen");
    CHECK(text_of(named, "deployment.environment.name") == "prod");
}

TEST_CASE("rejected spans of a partial success are read, as string or number", "[otlp]")
{
    CHECK(otlp::rejected_spans(R"({"partialSuccess":{"rejectedSpans":"7"}})") == 7);
    CHECK(otlp::rejected_spans(R"({"partialSuccess":{"rejectedSpans":7}})") == 7);
    CHECK(otlp::rejected_spans("{}") == 0);
    CHECK(otlp::rejected_spans("") == 0);
    CHECK(otlp::rejected_spans(R"({"partialSuccess":{"rejectedSpans":"x"}})") == 0);
}
