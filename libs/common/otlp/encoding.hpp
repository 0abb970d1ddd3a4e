#pragma once

#include "common/trace/settings.hpp"
#include "common/trace/span.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::otlp {

// The resource of this process's spans: service.name, .namespace, .version and .instance.id, the
// pod's k8s.* from POD_NAME, POD_UID, POD_NAMESPACE and NODE_NAME (the downward API), then the
// setting's attributes, which win. `variable` reads the environment.
trace::attribute_list
resource_of(std::string_view program, std::string_view instance, const trace::settings& chosen,
            const std::function<std::optional<std::string>(const char*)>& variable);

// An ExportTraceServiceRequest in OTLP's JSON (opentelemetry-proto, "JSON Protobuf Encoding"): ids
// in lower-case hex, 64-bit integers as strings, enums as numbers.
std::string encode(const trace::attribute_list& resource,
                   const std::vector<trace::span_record>& spans);

// The spans that the receiver refused although it took the request: partialSuccess.rejectedSpans.
std::size_t rejected_spans(std::string_view response_body);

} // namespace tempinbox::otlp
