#include "common/log/rate_limiter.hpp"

namespace tempinbox::log {

std::optional<std::uint64_t> rate_limiter::pass(std::uint64_t happened,
                                                std::chrono::steady_clock::time_point now)
{
    unreported_ += happened;
    if (reported_at_ && now - *reported_at_ < interval_)
        return std::nullopt;
    reported_at_ = now;
    const auto reported = unreported_;
    unreported_ = 0;
    return reported;
}

} // namespace tempinbox::log
