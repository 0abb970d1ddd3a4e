#pragma once

#include "common/core/bounded_cache.hpp"
#include "common/core/ids.hpp"

#include <algorithm>
#include <chrono>

namespace tempinbox::mail_ingest {

// How much mail an inbox takes on this replica: a bucket of `burst` that fills with `per_minute`; 0: without bound.
class inbox_rates
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    inbox_rates(double per_minute, double burst) : per_minute_(per_minute), burst_(std::max(burst, 1.0)) {}

    bool take(inbox_id inbox, time_point now)
    {
        if (per_minute_ <= 0)
            return true;
        auto* known = buckets_.find(inbox);
        if (!known)
            known = &buckets_.put(inbox, bucket{burst_, now});
        const double minutes = std::chrono::duration<double, std::ratio<60>>(now - known->filled_at).count();
        known->left = std::min(burst_, known->left + minutes * per_minute_);
        known->filled_at = now;
        if (known->left < 1)
            return false;
        known->left -= 1;
        return true;
    }

private:
    struct bucket
    {
        double left = 0;
        time_point filled_at;
    };

    double per_minute_;
    double burst_;
    bounded_cache<inbox_id, bucket> buckets_{100'000};
};

} // namespace tempinbox::mail_ingest
