#include "common/log/pace.hpp"

namespace tempinbox::log {

std::optional<std::uint64_t> pace::pass(std::uint64_t happened,
                                        std::chrono::steady_clock::time_point now)
{
    untold_ += happened;
    if (told_at_ && now - *told_at_ < interval_)
        return std::nullopt;
    told_at_ = now;
    const auto told = untold_;
    untold_ = 0;
    return told;
}

} // namespace tempinbox::log
