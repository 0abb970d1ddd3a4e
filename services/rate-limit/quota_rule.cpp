#include "rate-limit/quota_rule.hpp"

#include <algorithm>

namespace tempinbox::rate_limit {

day day_of(time_point now)
{
    return std::chrono::floor<std::chrono::days>(now);
}

std::int64_t reset_after(day today)
{
    return std::chrono::duration_cast<std::chrono::seconds>((today + std::chrono::days(1)).time_since_epoch()).count();
}

decision decide(const usage& before, std::int64_t units, std::int64_t let_through)
{
    decision made;
    const std::int64_t counted = before.used + std::max<std::int64_t>(let_through, 0);
    const std::int64_t asked = std::max<std::int64_t>(units, 0);
    made.granted = before.limit == 0 ? asked : std::clamp<std::int64_t>(before.limit - counted, 0, asked);
    made.used = counted + made.granted;
    made.remaining = before.limit == 0 ? 0 : std::max<std::int64_t>(before.limit - made.used, 0);
    return made;
}

} // namespace tempinbox::rate_limit
