#pragma once

#include "common/core/time.hpp"

#include <optional>
#include <string>

namespace tempinbox::mime {

// RFC 5322 3.3, loosely, as GMime reads it. Absent for what is no date of the years 1970 to 9999.
std::optional<time_point> parse_date(const std::string& value);

} // namespace tempinbox::mime
