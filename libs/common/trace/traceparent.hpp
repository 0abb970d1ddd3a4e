#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::trace {

// Which span of which trace (W3C Trace Context): `00-<32 hex>-<16 hex>-<2 hex>`. Unknown versions
// are read as 00; invalid texts are ignored, never fatal. Default-constructed: no span. Owns no
// memory.
class traceparent
{
public:
    // Of a new trace, which is not sampled unless somebody decides otherwise.
    static traceparent make();
    static std::optional<traceparent> parse(std::string_view text);

    // The same trace with a new span.
    traceparent child() const;
    traceparent with_sampled(bool is_sampled) const;

    bool is_valid() const { return span_id_ != std::array<std::uint8_t, 8>{}; }
    bool is_sampled() const { return is_sampled_; }
    std::string text() const;
    // Lower-case hex.
    std::string trace_id() const;
    std::string span_id() const;
    // The last 8 bytes of the trace's id, by which samplers decide.
    std::uint64_t random_part() const;

    bool operator==(const traceparent&) const = default;

private:
    std::array<std::uint8_t, 16> trace_id_{};
    std::array<std::uint8_t, 8> span_id_{};
    bool is_sampled_ = false;
};

// What goes with a request from process to process: the span that caused it, and what other systems
// put beside it (`tracestate`, which is passed on unread).
struct context
{
    traceparent span;
    std::string tracestate;

    context() = default;
    // Implicit: most spans have no tracestate.
    context(const traceparent& given) : span(given) {}
    context(const traceparent& given, std::string state) : span(given), tracestate(std::move(state))
    {}
    bool is_valid() const { return span.is_valid(); }
};

// The context that two header fields name. W3C Trace Context 3.3: `tracestate` counts only beside a
// valid `traceparent`; one over 512 bytes is dropped.
std::optional<context> read_context(std::optional<std::string_view> traceparent_field,
                                    std::optional<std::string_view> tracestate_field);

} // namespace tempinbox::trace
