#pragma once

#include "common/core/time.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace tempinbox::rate_limit {

// A UTC calendar day: the window of the quota.
using day = std::chrono::sys_days;

// As SQL reads and writes it: `2026-11-21`.
std::string date_text(day date);

// The next 00:00 UTC in Unix seconds: X-RateLimit-Reset.
std::int64_t reset_after(day today);

// A limit of 0 means no limit: usage is counted against this number, which nobody reaches.
inline constexpr std::int64_t unlimited = 1'000'000'000'000'000;

} // namespace tempinbox::rate_limit
