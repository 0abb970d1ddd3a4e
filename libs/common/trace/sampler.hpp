#pragma once

#include "common/trace/traceparent.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::trace {

// Decides which traces are recorded, once, where a trace begins (OpenTelemetry SDK, "Sampling"). A
// `parent-based` sampler follows the parent's flag where there is a parent.
struct sampler
{
    bool is_parent_based = true;
    double ratio = 1; // of the traces that begin here: 0 none, 1 all

    // Whether a span of `fresh` is recorded. The decision depends on the trace's id alone, so
    // processes with the same ratio decide alike.
    bool samples(const std::optional<traceparent>& parent, const traceparent& fresh) const;
};

// By the names of OTEL_TRACES_SAMPLER: `always_on`, `always_off`, `traceidratio`, and these after
// `parentbased_`. Absent: no such sampler. `ratio` counts for `traceidratio` only.
std::optional<sampler> make_sampler(std::string_view name, double ratio);

} // namespace tempinbox::trace
