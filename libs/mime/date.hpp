#pragma once

#include "common/core/time.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::mime {

// A date of RFC 5322 3.3, obsolete forms (4.3) included, of the years 1900 to 9999. Also taken:
// names of days in any language and of months in full, month before day, the year behind the time,
// dashes, ISO 8601 (`2024-01-31T10:00:00Z`), AM and PM, fractions of a second, `+02:00`, `+2`,
// `GMT+0200`; what has no zone is UTC. Absent for a date without a time, one with a number out of
// its range, and all else.
std::optional<time_point> parse_date(std::string_view value);

} // namespace tempinbox::mime
