#pragma once

#include "common/core/time.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace tempinbox::webhooks {

// RFC 9110 10.2.3: seconds, or an HTTP-date in any of its three forms (5.6.7). Absent if the value
// is neither, or lies in the past.
std::optional<std::chrono::seconds> read_retry_after(std::string_view value, time_point now);

} // namespace tempinbox::webhooks
