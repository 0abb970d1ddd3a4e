#include "webhook-dispatcher/delivery/retry_after.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::optional<int> number(std::string_view text)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() ||
        text.front() == '-')
        return std::nullopt;
    return value;
}

std::optional<unsigned> month_number(std::string_view name)
{
    const auto found = std::find(month_names.begin(), month_names.end(), name);
    if (found == month_names.end())
        return std::nullopt;
    return static_cast<unsigned>(found - month_names.begin()) + 1;
}

std::optional<seconds> time_of_day(std::string_view text)
{
    if (text.size() != 8 || text[2] != ':' || text[5] != ':')
        return std::nullopt;
    const auto h = number(text.substr(0, 2)), m = number(text.substr(3, 2)),
               s = number(text.substr(6, 2));
    if (!h || !m || !s || *h > 23 || *m > 59 || *s > 60)
        return std::nullopt;
    return hours{*h} + minutes{*m} + seconds{*s};
}

std::optional<time_point> moment(std::string_view day_text, std::string_view month_text,
                                 std::optional<int> year_number, std::string_view clock_text)
{
    const auto day_number = number(day_text);
    const auto month = month_number(month_text);
    const auto clock = time_of_day(clock_text);
    if (!day_number || !month || !year_number || !clock)
        return std::nullopt;
    const year_month_day date{year{*year_number}, std::chrono::month{*month},
                              day{static_cast<unsigned>(*day_number)}};
    if (!date.ok())
        return std::nullopt;
    return time_point{sys_days{date}} + *clock;
}

std::optional<time_point> read_http_date(std::string_view text, time_point now)
{
    const auto words = split_list(text, ' ');
    // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
    if (words.size() == 6 && words[5] == "GMT")
        return moment(words[1], words[2], number(words[3]), words[4]);
    // rfc850-date: Sunday, 06-Nov-94 08:49:37 GMT; a two-digit year is never more than 50 years
    // ahead.
    if (words.size() == 4 && words[3] == "GMT") {
        const auto parts = split_list(words[1], '-');
        const auto two_digits = parts.size() == 3 ? number(parts[2]) : std::nullopt;
        if (!two_digits || *two_digits > 99)
            return std::nullopt;
        const int this_year = static_cast<int>(year_month_day{floor<days>(now)}.year());
        int full = this_year / 100 * 100 + *two_digits;
        if (full > this_year + 50)
            full -= 100;
        return moment(parts[0], parts[1], full, words[2]);
    }
    // asctime-date: Sun Nov  6 08:49:37 1994
    if (words.size() == 5)
        return moment(words[2], words[1], number(words[4]), words[3]);
    return std::nullopt;
}

} // namespace

std::optional<seconds> read_retry_after(std::string_view value, time_point now)
{
    const auto text = trim(value);
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_digit)) {
        // A number too long for an int is longer than any wait.
        return seconds{number(text).value_or(std::numeric_limits<int>::max())};
    }
    const auto date = read_http_date(text, now);
    if (!date || *date <= now)
        return std::nullopt;
    return ceil<seconds>(*date - now);
}

} // namespace tempinbox::webhooks
