#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::cli {

// `90`, `90s`, `15m`, `2h`, `7d`: a whole number, seconds without a unit.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

// In the largest unit that keeps it whole: `90s`, `15m`, `7d`.
std::string to_text(std::chrono::seconds duration);

} // namespace tempinbox::cli
