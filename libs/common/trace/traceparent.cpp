#include "common/trace/traceparent.hpp"

#include "common/core/ascii.hpp"
#include "common/core/encoding.hpp"
#include "common/core/ids.hpp"

#include <algorithm>

namespace tempinbox::trace {
namespace {

constexpr std::size_t max_tracestate_bytes = 512;

bool is_lower_hex(std::string_view text)
{
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return hex_value(c) >= 0 && !is_upper(c); });
}

template <std::size_t Size>
bool is_zero(const std::array<std::uint8_t, Size>& id)
{
    return id == std::array<std::uint8_t, Size>{};
}

// W3C Trace Context 2.2.2: lower case; an id of zeros alone is invalid.
template <std::size_t Size>
bool read_id(std::string_view text, std::array<std::uint8_t, Size>& id)
{
    if (!is_lower_hex(text))
        return false;
    for (std::size_t i = 0; i < Size; ++i)
        id[i] = static_cast<std::uint8_t>(hex_value(text[2 * i]) * 16 + hex_value(text[2 * i + 1]));
    return !is_zero(id);
}

template <std::size_t Size>
void fill_id(std::array<std::uint8_t, Size>& id)
{
    do
        fill_with_random(id);
    while (is_zero(id));
}

template <std::size_t Size>
std::string hex_of(const std::array<std::uint8_t, Size>& id)
{
    return to_hex(std::string_view(reinterpret_cast<const char*>(id.data()), Size));
}

} // namespace

traceparent traceparent::make()
{
    traceparent fresh;
    fill_id(fresh.trace_id_);
    fill_id(fresh.span_id_);
    return fresh;
}

std::optional<traceparent> traceparent::parse(std::string_view text)
{
    // W3C Trace Context 3.2.2: later versions may append fields after a hyphen; version ff is
    // invalid.
    constexpr std::size_t length = 55;
    if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-')
        return std::nullopt;
    const auto version = text.substr(0, 2), flags = text.substr(53, 2);
    traceparent parsed;
    if (!is_lower_hex(version) || version == "ff" || !is_lower_hex(flags) ||
        !read_id(text.substr(3, 32), parsed.trace_id_) ||
        !read_id(text.substr(36, 16), parsed.span_id_))
        return std::nullopt;
    if (text.size() > length && (version == "00" || text[length] != '-'))
        return std::nullopt;
    parsed.is_sampled_ = (hex_value(flags[1]) & 1) != 0;
    return parsed;
}

traceparent traceparent::child() const
{
    traceparent next = *this;
    fill_id(next.span_id_);
    return next;
}

traceparent traceparent::with_sampled(bool is_sampled) const
{
    traceparent same = *this;
    same.is_sampled_ = is_sampled;
    return same;
}

std::string traceparent::trace_id() const
{
    return hex_of(trace_id_);
}

std::string traceparent::span_id() const
{
    return hex_of(span_id_);
}

std::string traceparent::text() const
{
    return "00-" + trace_id() + "-" + span_id() + (is_sampled_ ? "-01" : "-00");
}

std::uint64_t traceparent::random_part() const
{
    std::uint64_t part = 0;
    for (std::size_t i = 8; i < trace_id_.size(); ++i)
        part = part << 8 | trace_id_[i];
    return part;
}

std::optional<context> read_context(std::optional<std::string_view> traceparent_field,
                                    std::optional<std::string_view> tracestate_field)
{
    const auto parsed = traceparent_field ? traceparent::parse(*traceparent_field) : std::nullopt;
    if (!parsed)
        return std::nullopt;
    context read(*parsed);
    if (tracestate_field && tracestate_field->size() <= max_tracestate_bytes)
        read.tracestate = *tracestate_field;
    return read;
}

} // namespace tempinbox::trace
