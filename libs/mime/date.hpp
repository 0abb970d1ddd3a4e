#pragma once

#include "common/core/time.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::mime {

// Parses a date of RFC 5322 3.3, obsolete forms (4.3) included, of the years 1900 to 9999. Also
// accepts: names of days in any language and of months in full, month before day, the year after
// the time, dashes, ISO 8601 (`2024-01-31T10:00:00Z`), AM and PM, fractions of a second, `+02:00`,
// `+2`, `GMT+0200`. Without a zone it is UTC. Absent for a date without a time, for numbers out of
// range, and for all else.
std::optional<time_point> parse_date(std::string_view value);

} // namespace tempinbox::mime
