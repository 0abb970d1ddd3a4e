#include "rate-limit/quota_rule.hpp"

#include <cstdio>

namespace tempinbox::rate_limit {

std::string date_text(day date)
{
    const std::chrono::year_month_day parts{date};
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02u", static_cast<int>(parts.year()),
                  static_cast<unsigned>(parts.month()), static_cast<unsigned>(parts.day()));
    return buffer;
}

std::int64_t reset_after(day today)
{
    return to_unix_seconds(today + std::chrono::days(1));
}

} // namespace tempinbox::rate_limit
