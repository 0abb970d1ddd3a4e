#include "common/core/time.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

// The time as text again; "none" if it is not a time.
std::string reading_of(std::string_view text)
{
    const auto time = parse_iso8601(text);
    return time ? to_iso8601(*time) : "none";
}

} // namespace

TEST_CASE("times are written with milliseconds in UTC", "[core]")
{
    CHECK(to_iso8601(time_point()) == "1970-01-01T00:00:00.000Z");
    CHECK(to_iso8601(from_unix_micros(1'795'255'200'123'999)) == "2026-11-21T10:00:00.123Z");
    CHECK(to_iso8601(from_unix_micros(-1)) == "1969-12-31T23:59:59.999Z");
    CHECK(to_iso8601(from_unix_micros(951'782'400'000'000)) == "2000-02-29T00:00:00.000Z");
    CHECK(to_iso8601(time_point::min()) == "0000-01-01T00:00:00.000Z");
    CHECK(to_iso8601(time_point::max()) == "9999-12-31T23:59:59.999Z");
}

TEST_CASE("times are read as RFC 3339 and nothing else", "[core]")
{
    const std::pair<const char*, const char*> table[] = {
        {"2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"},
        {"2026-11-21t10:00:00.5z", "2026-11-21T10:00:00.500Z"},
        {"2026-11-21T10:00:00.123456Z", "2026-11-21T10:00:00.123Z"},
        {"2026-11-21T10:00:00+02:30", "2026-11-21T07:30:00.000Z"},
        {"2026-01-01T00:00:00-00:30", "2026-01-01T00:30:00.000Z"},
        {"2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"},
        {"2026-02-29T00:00:00Z", "none"},
        {"2026-13-01T00:00:00Z", "none"},
        {"2026-00-01T00:00:00Z", "none"},
        {"2026-04-31T00:00:00Z", "none"},
        {"2026-11-21T24:00:00Z", "none"},
        {"2026-11-21T10:60:00Z", "none"},
        {"2026-11-21T10:00:60Z", "none"},
        {"2026-11-21T10:00:00", "none"},
        {"2026-11-21T10:00:00.Z", "none"},
        {"2026-11-21T10:00:00.1234567Z", "none"},
        {"2026-11-21T10:00:00+24:00", "none"},
        {"2026-11-21T10:00:00+0230", "none"},
        {"2026-11-21T10:00:00Z ", "none"},
        {" 2026-11-21T10:00:00Z", "none"},
        {"2026-11-21 10:00:00Z", "none"},
        {"2026-11-21", "none"},
        {"2026-1-21T10:00:00Z", "none"},
        {"+026-11-21T10:00:00Z", "none"},
        {"", "none"},
    };
    for (const auto& [text, expected] : table) {
        CAPTURE(text);
        CHECK(reading_of(text) == expected);
    }
}

TEST_CASE("microseconds survive the way to SQL and back", "[core]")
{
    const auto time = parse_iso8601("2026-11-21T10:00:00.123456Z").value();

    CHECK(from_unix_micros(to_unix_micros(time)) == time);
    CHECK(to_unix_micros(time) % 1'000'000 == 123'456);
}

TEST_CASE("a manual clock stands still until moved", "[core]")
{
    manual_clock clock(time_point{});
    clock.advance(std::chrono::seconds(5));
    CHECK(to_unix_micros(clock.now()) == 5'000'000);
    clock.set(time_point{});
    CHECK(clock.now() == time_point{});
}

TEST_CASE("whole seconds and days begin at or before their times", "[core]")
{
    const auto late = *parse_iso8601("2026-11-21T23:59:59.999Z");
    CHECK(to_unix_seconds(late) == 1'795'305'599);
    CHECK(day_of(late) == std::chrono::sys_days(std::chrono::year(2026) / 11 / 21));
    const auto before_1970 = from_unix_micros(-1);
    CHECK(to_unix_seconds(before_1970) == -1);
    CHECK(day_of(before_1970) == std::chrono::sys_days(std::chrono::year(1969) / 12 / 31));
}
