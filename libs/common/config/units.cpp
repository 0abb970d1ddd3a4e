#include "common/config/units.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <limits>

namespace tempinbox::config {
namespace {

struct unit
{
    std::string_view name;
    std::int64_t size;
};

// Largest first.
constexpr unit time_units[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}};
constexpr unit byte_units[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

template <std::size_t N>
std::optional<std::int64_t> parse_with_unit(std::string_view text, const unit (&units)[N],
                                            std::int64_t without_unit)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0)
        return std::nullopt;
    const auto suffix = trim(text.substr(static_cast<std::size_t>(end - text.data())));
    std::int64_t size = suffix.empty() ? without_unit : 0;
    for (const auto& known : units)
        if (known.name == suffix)
            size = known.size;
    if (size == 0 || number > std::numeric_limits<std::int64_t>::max() / size)
        return std::nullopt;
    return number * size;
}

template <std::size_t N>
std::string to_text_with_unit(std::int64_t value, const unit (&units)[N])
{
    for (const auto& known : units)
        if (value != 0 && value % known.size == 0)
            return std::to_string(value / known.size) + std::string(known.name);
    return "0";
}

} // namespace

std::optional<bool> parse_truth(std::string_view text)
{
    const auto word = to_lower_ascii(text);
    if (word == "true" || word == "yes" || word == "on" || word == "1")
        return true;
    if (word == "false" || word == "no" || word == "off" || word == "0")
        return false;
    return std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text)
{
    const auto millis = parse_with_unit(text, time_units, 1'000);
    if (!millis)
        return std::nullopt;
    return std::chrono::milliseconds{*millis};
}

std::string to_text(std::chrono::milliseconds time)
{
    return to_text_with_unit(time.count(), time_units);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text)
{
    const auto size = parse_with_unit(text, byte_units, 1);
    if (!size)
        return std::nullopt;
    return static_cast<std::uint64_t>(*size);
}

std::string bytes_to_text(std::uint64_t size)
{
    auto text = to_text_with_unit(static_cast<std::int64_t>(size), byte_units);
    return text.ends_with("B") && !text.ends_with("iB") ? text.substr(0, text.size() - 1) : text;
}

} // namespace tempinbox::config
