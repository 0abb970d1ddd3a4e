#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::config {

inline constexpr std::string_view allowed_truths = "true or false";

// true, yes, on, 1 and their opposites.
std::optional<bool> parse_truth(std::string_view text);

// `250ms`, `5s`, `10m`, `24h`, `7d`; a plain number is seconds.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
// In the largest unit that divides it.
std::string to_text(std::chrono::milliseconds time);

// `65536`, `64KiB`, `25MiB`, `1GiB`.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
std::string bytes_to_text(std::uint64_t size);

} // namespace tempinbox::config
