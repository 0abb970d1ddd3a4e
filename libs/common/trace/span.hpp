#pragma once

#include "common/trace/traceparent.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tempinbox::trace {

class tracer;

// The numbers are OTLP's.
enum class span_kind { internal = 1, server = 2, client = 3, producer = 4, consumer = 5 };
enum class span_status { unset = 0, ok = 1, error = 2 };

using attribute_value = std::variant<std::string, std::int64_t, double, bool>;
using attribute_list = std::vector<std::pair<std::string, attribute_value>>;

// The name of a span's attribute: a literal, so that no span copies it.
struct attribute_key
{
    consteval attribute_key(const char* literal) : text(literal) {}

    std::string_view text;
};

// A finished span, or one that is being recorded.
struct span_record
{
    std::string name;
    span_kind kind = span_kind::internal;
    context self;
    std::string parent_span_id; // hex; empty: the trace begins here
    std::chrono::system_clock::time_point began;
    std::chrono::steady_clock::time_point began_steady; // durations do not follow a set clock
    std::chrono::system_clock::time_point ended;
    std::vector<std::pair<std::string_view, attribute_value>> attributes; // attribute_key's texts
    std::vector<traceparent> links;
    std::size_t dropped_links = 0;
    span_status status = span_status::unset;
    std::string status_message;
};

// A piece of work in a trace, from a tracer; ends with the object or by `end`. Without tracing it
// is empty: it has no context. In a trace that is not sampled it has a context, whose flag is 00,
// and records nothing; then every call is a comparison. Who would have to build a text for it asks
// `is_recording` first. Used on the loop; outlived by its tracer.
class span
{
public:
    span() = default;
    ~span() { end(); }
    span(span&&) noexcept = default;
    span& operator=(span&& other) noexcept;

    // Invalid while tracing is off.
    const trace::context& context() const { return context_; }
    bool is_recording() const { return record_ != nullptr; }

    void rename(std::string_view name);
    // Copies the text only if the span records.
    void set(attribute_key key, std::string_view value)
    {
        if (record_)
            add(key, std::string(value));
    }
    void set(attribute_key key, const char* value) { set(key, std::string_view(value)); }
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    void set(attribute_key key, T value)
    {
        add(key, static_cast<std::int64_t>(value));
    }
    void set_flag(attribute_key key, bool value) { add(key, value); }
    // Another span that had to do with this one, of another trace as a rule. Past 128 they are
    // counted only.
    void link(const traceparent& other);
    // Sets the status; `type` is `error.type`.
    void fail(std::string_view type, std::string_view message = {});
    void end();
    // Ends it unrecorded: the work came to nothing that is worth a span.
    void discard() { record_.reset(); }

private:
    friend class tracer;

    span(tracer& owner, trace::context self, std::unique_ptr<span_record> record)
        : owner_(&owner),
          context_(std::move(self)),
          record_(std::move(record))
    {}
    template <class T>
    void add(attribute_key key, T value)
    {
        if (record_)
            record_->attributes.emplace_back(key.text, std::move(value));
    }

    tracer* owner_ = nullptr;
    trace::context context_;
    std::unique_ptr<span_record> record_;
};

} // namespace tempinbox::trace
