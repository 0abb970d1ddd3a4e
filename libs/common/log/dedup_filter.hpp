#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tempinbox::log {

// Counts lines by message: at most `limit` of each pass per second; the next line that passes
// reports how many were suppressed. Bounded memory, thread-safe.
class dedup_filter
{
public:
    explicit dedup_filter(std::uint32_t limit) : limit_(limit) {}

    // The number suppressed before this line; absent if this line is suppressed.
    std::optional<std::uint64_t> pass(std::string_view message,
                                      std::chrono::steady_clock::time_point now);

private:
    struct history
    {
        std::chrono::steady_clock::time_point since;
        std::uint32_t written = 0;
        std::uint64_t suppressed = 0;
    };

    std::uint32_t limit_;
    std::mutex mutex_;
    std::unordered_map<std::string, history> messages_;
};

} // namespace tempinbox::log
