#include "common/otlp/encoding.hpp"

#include "common/core/version.hpp"
#include "common/json/value.hpp"
#include "common/json/writer.hpp"

#include <algorithm>
#include <charconv>

namespace tempinbox::otlp {
namespace {

// The semantic conventions whose names the spans use.
constexpr std::string_view schema_url = "https://opentelemetry.io/schemas/1.37.0";

void write_value(json::writer& out, const trace::attribute_value& value)
{
    out.begin_object();
    if (const auto* text = std::get_if<std::string>(&value))
        out.member("stringValue", *text);
    else if (const auto* integer = std::get_if<std::int64_t>(&value))
        out.member("intValue", std::to_string(*integer));
    else if (const auto* number = std::get_if<double>(&value))
        out.member("doubleValue", *number);
    else
        out.member("boolValue", std::get<bool>(value));
    out.end_object();
}

// Of a span or of the resource; their keys are of different types.
template <class Attributes>
void write_attributes(json::writer& out, const Attributes& attributes)
{
    out.key("attributes").begin_array();
    for (const auto& [key, value] : attributes) {
        out.begin_object().member("key", key).key("value");
        write_value(out, value);
        out.end_object();
    }
    out.end_array();
}

std::string unix_nanos(std::chrono::system_clock::time_point time)
{
    return std::to_string(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

// `flags` are those of W3C Trace Context.
void write_ids(json::writer& out, const trace::traceparent& span)
{
    out.member("traceId", span.trace_id());
    out.member("spanId", span.span_id());
    out.member("flags", span.is_sampled() ? 1 : 0);
}

void write_span(json::writer& out, const trace::span_record& span)
{
    out.begin_object();
    write_ids(out, span.self.span);
    if (!span.self.tracestate.empty())
        out.member("traceState", span.self.tracestate);
    if (!span.parent_span_id.empty())
        out.member("parentSpanId", span.parent_span_id);
    out.member("name", span.name);
    out.member("kind", static_cast<int>(span.kind));
    out.member("startTimeUnixNano", unix_nanos(span.began));
    out.member("endTimeUnixNano", unix_nanos(span.ended));
    write_attributes(out, span.attributes);
    if (!span.links.empty()) {
        out.key("links").begin_array();
        for (const auto& link : span.links) {
            out.begin_object();
            write_ids(out, link);
            out.end_object();
        }
        out.end_array();
    }
    if (span.dropped_links > 0)
        out.member("droppedLinksCount", span.dropped_links);
    if (span.status != trace::span_status::unset) {
        out.key("status").begin_object().member("code", static_cast<int>(span.status));
        if (!span.status_message.empty())
            out.member("message", span.status_message);
        out.end_object();
    }
    out.end_object();
}

void set(trace::attribute_list& attributes, std::string_view key, trace::attribute_value value)
{
    const auto same = std::find_if(attributes.begin(), attributes.end(),
                                   [key](const auto& one) { return one.first == key; });
    if (same == attributes.end())
        attributes.emplace_back(key, std::move(value));
    else
        same->second = std::move(value);
}

} // namespace

trace::attribute_list
resource_of(std::string_view program, std::string_view instance, const trace::settings& chosen,
            const std::function<std::optional<std::string>(const char*)>& variable)
{
    constexpr std::pair<const char*, std::string_view> downward_api[] = {
        {"POD_NAME", "k8s.pod.name"},
        {"POD_UID", "k8s.pod.uid"},
        {"POD_NAMESPACE", "k8s.namespace.name"},
        {"NODE_NAME", "k8s.node.name"}};
    trace::attribute_list resource;
    set(resource, "service.name", "tempinbox-" + std::string(program));
    set(resource, "service.namespace", std::string("tempinbox"));
    set(resource, "service.version", std::string(version()));
    set(resource, "service.instance.id", variable("POD_UID").value_or(std::string(instance)));
    set(resource, "telemetry.sdk.name", std::string("tempinbox"));
    set(resource, "telemetry.sdk.language", std::string("cpp"));
    for (const auto& [name, key] : downward_api)
        if (auto value = variable(name))
            set(resource, key, std::move(*value));
    for (const auto& [key, value] : chosen.resource_attributes)
        set(resource, key, value);
    if (!chosen.service_name.empty())
        set(resource, "service.name", chosen.service_name);
    return resource;
}

std::string encode(const trace::attribute_list& resource,
                   const std::vector<trace::span_record>& spans)
{
    json::writer out;
    out.begin_object().key("resourceSpans").begin_array().begin_object();
    out.key("resource").begin_object();
    write_attributes(out, resource);
    out.end_object();
    out.key("scopeSpans").begin_array().begin_object();
    out.key("scope").begin_object().member("name", "tempinbox");
    out.member("version", version()).end_object();
    out.key("spans").begin_array();
    for (const auto& span : spans)
        write_span(out, span);
    out.end_array();
    out.member("schemaUrl", schema_url);
    out.end_object().end_array();
    out.end_object().end_array().end_object();
    return out.take();
}

std::size_t rejected_spans(std::string_view response_body)
{
    const auto body = json::value::parse(response_body);
    const auto partial = body ? body->find("partialSuccess") : std::nullopt;
    const auto rejected = partial ? partial->find("rejectedSpans") : std::nullopt;
    if (!rejected)
        return 0;
    // A 64-bit integer is a string in Protobuf's JSON; some receivers write a number.
    if (rejected->is_string()) {
        const auto text = rejected->text();
        std::size_t count = 0;
        std::from_chars(text.data(), text.data() + text.size(), count);
        return count;
    }
    return rejected->is_integer()
               ? static_cast<std::size_t>(std::max<std::int64_t>(rejected->integer(), 0))
               : 0;
}

} // namespace tempinbox::otlp
