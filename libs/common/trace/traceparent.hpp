#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::trace {

// W3C Trace Context: `00-<32 hex>-<16 hex>-<2 hex>`. Unknown versions are read as 00; invalid ones
// are ignored, never fatal.
class traceparent
{
public:
    static traceparent make();
    static std::optional<traceparent> parse(std::string_view text);

    // The same trace with a new span.
    traceparent child() const;
    std::string text() const;
    const std::string& trace_id() const { return trace_id_; }
    const std::string& span_id() const { return span_id_; }

private:
    std::string trace_id_;
    std::string span_id_;
    bool is_sampled_ = true;
};

} // namespace tempinbox::trace
