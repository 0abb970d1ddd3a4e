#include "rate-limit/quota_rule.hpp"

#include <cstdio>

namespace tempinbox::rate_limit {

day day_of(time_point now)
{
    return std::chrono::floor<std::chrono::days>(now);
}

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
    return std::chrono::duration_cast<std::chrono::seconds>(
               (today + std::chrono::days(1)).time_since_epoch())
        .count();
}

} // namespace tempinbox::rate_limit
