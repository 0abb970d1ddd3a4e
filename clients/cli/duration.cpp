#include "cli/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace tempinbox::cli {
namespace {

constexpr std::array<std::pair<char, std::int64_t>, 4> units{
    {{'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}}};
// 100,000 days: past every bound, and far from an overflow.
constexpr std::int64_t max_seconds = 100'000 * units.front().second;

} // namespace

std::optional<std::chrono::seconds> parse_duration(std::string_view text)
{
    std::int64_t count = 0;
    const auto end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || count < 0 || count > max_seconds)
        return std::nullopt;
    if (rest == end)
        return std::chrono::seconds(count);
    for (const auto& [letter, seconds] : units)
        if (rest + 1 == end && *rest == letter && count <= max_seconds / seconds)
            return std::chrono::seconds(count * seconds);
    return std::nullopt;
}

std::string to_text(std::chrono::seconds duration)
{
    for (const auto& [letter, seconds] : units)
        if (duration.count() >= seconds && duration.count() % seconds == 0)
            return std::to_string(duration.count() / seconds) + letter;
    return std::to_string(duration.count()) + "s";
}

} // namespace tempinbox::cli
