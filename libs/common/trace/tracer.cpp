#include "common/trace/tracer.hpp"

#include <algorithm>

namespace tempinbox::trace {
namespace {

// OpenTelemetry SDK, "Span Limits"
constexpr std::size_t max_links = 128;
// As many as most spans have.
constexpr std::size_t usual_attributes = 8;

} // namespace

span& span::operator=(span&& other) noexcept
{
    end();
    owner_ = other.owner_;
    context_ = std::move(other.context_);
    record_ = std::move(other.record_);
    return *this;
}

void span::rename(std::string_view name)
{
    if (record_)
        record_->name = name;
}

void span::link(const traceparent& other)
{
    if (!record_)
        return;
    if (record_->links.size() < max_links)
        record_->links.push_back(other);
    else
        ++record_->dropped_links;
}

void span::fail(std::string_view type, std::string_view message)
{
    if (!record_)
        return;
    set("error.type", type);
    record_->status = span_status::error;
    record_->status_message = message;
}

void span::end()
{
    if (!record_)
        return;
    record_->ended =
        record_->began + std::chrono::duration_cast<std::chrono::system_clock::duration>(
                             std::chrono::steady_clock::now() - record_->began_steady);
    owner_->finish(std::move(record_));
}

tracer::tracer(const settings& chosen, metrics::registry& registry)
    : settings_(chosen),
      is_on_(!chosen.endpoint.empty()),
      registry_(registry)
{
    if (is_on_)
        did_not_fit_ = &dropped("queue_full");
}

span tracer::begin(std::string_view name, span_kind kind)
{
    if (!is_on_)
        return {};
    return make(name, kind, std::nullopt, traceparent::make(), {});
}

span tracer::begin(std::string_view name, span_kind kind, const context& parent)
{
    if (!is_on_)
        return {};
    if (!parent.is_valid())
        return begin(name, kind);
    return make(name, kind, parent.span, parent.span.child(), parent.tracestate);
}

span tracer::begin_linked(std::string_view name, span_kind kind, const traceparent& stranger)
{
    auto fresh = begin(name, kind);
    fresh.link(stranger);
    return fresh;
}

span tracer::make(std::string_view name, span_kind kind, const std::optional<traceparent>& parent,
                  const traceparent& fresh, const std::string& tracestate)
{
    const bool is_sampled = settings_.sampler.samples(parent, fresh);
    context self(fresh.with_sampled(is_sampled), tracestate);
    std::unique_ptr<span_record> record;
    if (is_sampled) {
        record = std::make_unique<span_record>();
        record->name = name;
        record->kind = kind;
        record->attributes.reserve(usual_attributes);
        record->self = self;
        if (parent)
            record->parent_span_id = parent->span_id();
        record->began = std::chrono::system_clock::now();
        record->began_steady = std::chrono::steady_clock::now();
    }
    return span(*this, std::move(self), std::move(record));
}

void tracer::finish(std::unique_ptr<span_record> record)
{
    if (queue_.size() >= max_queued)
        return did_not_fit_->Increment();
    queue_.push_back(std::move(*record));
}

std::vector<span_record> tracer::take(std::size_t max)
{
    std::vector<span_record> taken;
    taken.reserve(std::min(max, queue_.size()));
    while (!queue_.empty() && taken.size() < max) {
        taken.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
    return taken;
}

void tracer::note_dropped(std::string_view reason, std::size_t spans)
{
    dropped(reason).Increment(static_cast<double>(spans));
}

prometheus::Counter& tracer::dropped(std::string_view reason)
{
    return registry_.counter("tempinbox_spans_dropped_total",
                             "Spans of traces that were not delivered",
                             {{"reason", std::string(reason)}});
}

} // namespace tempinbox::trace
