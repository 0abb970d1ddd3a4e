#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace tempinbox::log {

// For events that happen often and share one log line per interval: decides when a line is due and
// how many events it stands for. Not thread-safe.
class rate_limiter
{
public:
    explicit rate_limiter(std::chrono::steady_clock::duration interval) : interval_(interval) {}

    // Absent if the last line is less than an interval ago; else the number of events since that
    // line, these included.
    std::optional<std::uint64_t> pass(std::uint64_t happened,
                                      std::chrono::steady_clock::time_point now);

private:
    std::chrono::steady_clock::duration interval_;
    std::optional<std::chrono::steady_clock::time_point> reported_at_;
    std::uint64_t unreported_ = 0;
};

} // namespace tempinbox::log
