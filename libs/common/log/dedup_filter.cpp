#include "common/log/dedup_filter.hpp"

namespace tempinbox::log {

std::optional<std::uint64_t> dedup_filter::pass(std::string_view message,
                                                std::chrono::steady_clock::time_point now)
{
    constexpr std::size_t max_messages = 1'000;
    const std::lock_guard lock(mutex_);
    if (messages_.size() > max_messages)
        messages_.clear();
    auto& seen = messages_[std::string(message)];
    if (now - seen.since >= std::chrono::seconds(1)) {
        seen.since = now;
        seen.written = 0;
    }
    if (seen.written >= limit_) {
        ++seen.suppressed;
        return std::nullopt;
    }
    ++seen.written;
    return std::exchange(seen.suppressed, 0);
}

} // namespace tempinbox::log
