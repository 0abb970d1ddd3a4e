#include "common/core/time.hpp"

#include "common/core/ascii.hpp"

#include <algorithm>
#include <span>

namespace tempinbox {
namespace {

using namespace std::chrono;

// Reads exactly `count` digits at `at`; -1 if one is missing.
int digits(std::string_view text, std::size_t at, std::size_t count)
{
    if (at + count > text.size())
        return -1;
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

// Writes as many digits as `at` holds.
void put_digits(std::span<char> at, unsigned value)
{
    for (auto digit = at.rbegin(); digit != at.rend(); ++digit, value /= 10)
        *digit = static_cast<char>('0' + value % 10);
}

bool is_at(std::string_view text, std::size_t at, char expected)
{
    return at < text.size() && text[at] == expected;
}

} // namespace

std::string to_iso8601(time_point time)
{
    constexpr time_point first = sys_days{year{0} / January / 1},
                         past = sys_days{year{10'000} / January / 1};
    time = std::clamp(time, first, past - microseconds{1});
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<milliseconds>(time - day)};
    std::string text = "0000-00-00T00:00:00.000Z";
    const std::span<char> all(text);
    put_digits(all.subspan(0, 4), static_cast<unsigned>(static_cast<int>(date.year())));
    put_digits(all.subspan(5, 2), static_cast<unsigned>(date.month()));
    put_digits(all.subspan(8, 2), static_cast<unsigned>(date.day()));
    put_digits(all.subspan(11, 2), static_cast<unsigned>(clock.hours().count()));
    put_digits(all.subspan(14, 2), static_cast<unsigned>(clock.minutes().count()));
    put_digits(all.subspan(17, 2), static_cast<unsigned>(clock.seconds().count()));
    put_digits(all.subspan(20, 3), static_cast<unsigned>(clock.subseconds().count()));
    return text;
}

std::optional<time_point> parse_iso8601(std::string_view text)
{
    const int y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2);
    const int h = digits(text, 11, 2), mi = digits(text, 14, 2), s = digits(text, 17, 2);
    if (y < 0 || mo < 0 || d < 0 || h < 0 || mi < 0 || s < 0)
        return std::nullopt;
    if (!is_at(text, 4, '-') || !is_at(text, 7, '-') ||
        !(is_at(text, 10, 'T') || is_at(text, 10, 't')) || !is_at(text, 13, ':') ||
        !is_at(text, 16, ':'))
        return std::nullopt;
    const year_month_day date{year{y}, month{static_cast<unsigned>(mo)},
                              day{static_cast<unsigned>(d)}};
    if (!date.ok() || h > 23 || mi > 59 || s > 59)
        return std::nullopt;

    std::size_t at = 19;
    std::int64_t fraction = 0;
    if (is_at(text, at, '.')) {
        ++at;
        std::int64_t unit = 100'000;
        const auto first = at;
        for (; at < text.size() && is_digit(text[at]); ++at, unit /= 10) {
            if (at - first == 6)
                return std::nullopt;
            fraction += (text[at] - '0') * unit;
        }
        if (at == first)
            return std::nullopt;
    }

    minutes offset{0};
    if (is_at(text, at, 'Z') || is_at(text, at, 'z')) {
        ++at;
    } else if (is_at(text, at, '+') || is_at(text, at, '-')) {
        const int oh = digits(text, at + 1, 2), om = digits(text, at + 4, 2);
        if (oh < 0 || oh > 23 || om < 0 || om > 59 || !is_at(text, at + 3, ':'))
            return std::nullopt;
        offset = hours{oh} + minutes{om};
        if (text[at] == '-')
            offset = -offset;
        at += 6;
    } else {
        return std::nullopt;
    }
    if (at != text.size())
        return std::nullopt;
    return time_point{sys_days{date}} + hours{h} + minutes{mi} + seconds{s} +
           microseconds{fraction} - offset;
}

std::int64_t to_unix_micros(time_point time)
{
    return time.time_since_epoch().count();
}

time_point from_unix_micros(std::int64_t micros)
{
    return time_point{microseconds{micros}};
}

time_point system_clock_source::now() const
{
    return time_point_cast<microseconds>(std::chrono::system_clock::now());
}

} // namespace tempinbox
