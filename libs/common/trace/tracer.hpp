#pragma once

#include "common/metrics/registry.hpp"
#include "common/trace/settings.hpp"
#include "common/trace/span.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace tempinbox::trace {

// Begins spans and queues those that ended for the exporter. Off without an endpoint: then spans
// are empty and nothing is allocated. The queue is bounded; spans that do not fit are dropped and
// counted in tempinbox_spans_dropped_total. Used on the loop only.
class tracer
{
public:
    // At about 1 KiB a span.
    static constexpr std::size_t max_queued = 8'192;

    // `chosen` outlives the tracer.
    tracer(const settings& chosen, metrics::registry& registry);
    tracer(const tracer&) = delete;

    bool is_on() const { return is_on_; }

    // The first span of a new trace; the sampler decides.
    span begin(std::string_view name, span_kind kind);
    // A span caused by `parent`, here or in another process; a new trace if `parent` is not valid.
    span begin(std::string_view name, span_kind kind, const context& parent);
    // The first span of a new trace that has to do with a stranger's, which it links.
    span begin_linked(std::string_view name, span_kind kind, const traceparent& stranger);

    std::size_t queued() const { return queue_.size(); }
    std::vector<span_record> take(std::size_t max);
    // Spans that could not be delivered, for `reason`.
    void note_dropped(std::string_view reason, std::size_t spans);

private:
    friend class span;

    prometheus::Counter& dropped(std::string_view reason);
    span make(std::string_view name, span_kind kind, const std::optional<traceparent>& parent,
              const traceparent& fresh, const std::string& tracestate);
    void finish(std::unique_ptr<span_record> record);

    const settings& settings_;
    bool is_on_;
    metrics::registry& registry_;
    prometheus::Counter* did_not_fit_ = nullptr; // null while tracing is off
    std::deque<span_record> queue_;
};

} // namespace tempinbox::trace
