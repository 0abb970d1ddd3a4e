#pragma once

#include "common/config/reader.hpp"
#include "common/trace/sampler.hpp"
#include "common/trace/span.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::trace {

struct settings
{
    std::string endpoint; // takes POST of OTLP/HTTP traces; empty: tracing is off
    std::vector<std::pair<std::string, std::string>> headers;
    std::chrono::milliseconds timeout{10'000}; // of one request
    std::string ca_file;                       // empty: the system's
    trace::sampler sampler;
    std::string service_name; // empty: tempinbox-<program>
    attribute_list resource_attributes;
};

// `otel-…`; the variables of the same names without TEMPINBOX_ (OTEL_EXPORTER_OTLP_ENDPOINT) set
// them, too.
settings read_settings(config::reader& reader);

// `key=value,key=value` with percent-encoded values, as OTEL_EXPORTER_OTLP_HEADERS and
// OTEL_RESOURCE_ATTRIBUTES hold them (W3C Baggage). Absent: malformed.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text);

} // namespace tempinbox::trace
