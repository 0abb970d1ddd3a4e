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

} // namespace tempinbox::rate_limit
