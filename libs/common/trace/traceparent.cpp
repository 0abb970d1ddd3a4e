#include "common/trace/traceparent.hpp"

#include "common/core/encoding.hpp"
#include "common/core/ids.hpp"

#include <array>

namespace tempinbox::trace {
namespace {

bool is_lower_hex(std::string_view text)
{
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// W3C Trace Context 2.2.2: an id of zeros alone is invalid.
bool is_id(std::string_view text)
{
    return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::string random_id(std::size_t count)
{
    std::array<std::uint8_t, 16> bytes;
    fill_with_random(std::span(bytes).first(count));
    auto id = to_hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), count));
    return is_id(id) ? id : random_id(count);
}

} // namespace

traceparent traceparent::make()
{
    traceparent fresh;
    fresh.trace_id_ = random_id(16);
    fresh.span_id_ = random_id(8);
    return fresh;
}

std::optional<traceparent> traceparent::parse(std::string_view text)
{
    // W3C Trace Context 3.2.2: later versions may append fields after a hyphen; version ff is
    // invalid.
    constexpr std::size_t length = 55;
    if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-')
        return std::nullopt;
    const auto version = text.substr(0, 2), trace = text.substr(3, 32), span = text.substr(36, 16),
               flags = text.substr(53, 2);
    if (!is_lower_hex(version) || version == "ff" || !is_id(trace) || !is_id(span) ||
        !is_lower_hex(flags))
        return std::nullopt;
    if (text.size() > length && (version == "00" || text[length] != '-'))
        return std::nullopt;

    traceparent parsed;
    parsed.trace_id_ = trace;
    parsed.span_id_ = span;
    const auto low = flags[1];
    parsed.is_sampled_ = ((low <= '9' ? low - '0' : low - 'a' + 10) & 1) != 0;
    return parsed;
}

traceparent traceparent::child() const
{
    traceparent next = *this;
    next.span_id_ = random_id(8);
    return next;
}

std::string traceparent::text() const
{
    return "00-" + trace_id_ + "-" + span_id_ + (is_sampled_ ? "-01" : "-00");
}

} // namespace tempinbox::trace
