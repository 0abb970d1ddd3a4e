#pragma once

#include "common/core/time.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tempinbox::log {

// The members that say who writes, already escaped:
// `"service":"gateway","version":"1.0","instance":"…"`.
std::string origin_members(std::string_view service, std::string_view version,
                           std::string_view instance);

// One line without its newline. Texts are cut at 4 KiB.
std::string format_line(time_point now, level severity, std::string_view message,
                        std::string_view origin, std::uint64_t suppressed,
                        std::initializer_list<field> fields);

} // namespace tempinbox::log
