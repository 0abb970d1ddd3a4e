#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox {

// Wall-clock time in UTC; PostgreSQL's precision.
using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// `2026-11-21T10:00:00.123Z`: the one form of times on the wire; cut to milliseconds and to the
// years 0 to 9999.
std::string to_iso8601(time_point time);

// Takes RFC 3339 with `Z` or an offset, zero to six fraction digits; nothing else, and no
// impossible date.
std::optional<time_point> parse_iso8601(std::string_view text);

// Microseconds since 1970 and back: the form of times in SQL parameters and results.
std::int64_t to_unix_micros(time_point time);
time_point from_unix_micros(std::int64_t micros);

// Whole seconds since 1970.
inline std::int64_t to_unix_seconds(time_point time)
{
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

// The UTC day.
inline std::chrono::sys_days day_of(time_point time)
{
    return std::chrono::floor<std::chrono::days>(time);
}

// Where a service reads the time, so that a test can set it.
class clock_source
{
public:
    virtual ~clock_source() = default;
    virtual time_point now() const = 0;
};

class system_clock_source final : public clock_source
{
public:
    time_point now() const override;
};

// A clock that stands still until moved.
class manual_clock final : public clock_source
{
public:
    explicit manual_clock(time_point start) : now_(start) {}
    time_point now() const override { return now_; }
    void set(time_point time) { now_ = time; }
    void advance(std::chrono::microseconds step) { now_ += step; }

private:
    time_point now_;
};

} // namespace tempinbox
