#include "mime/date.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "mime/header.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::mime {
namespace {

using namespace std::chrono;

constexpr std::string_view months[] = {"january",   "february", "march",    "april",
                                       "may",       "june",     "july",     "august",
                                       "september", "october",  "november", "december"};

// RFC 5322 4.3: zones of any other name carry no information, and count as UTC.
constexpr std::pair<std::string_view, int> zones[] = {{"edt", -4}, {"est", -5}, {"cdt", -5},
                                                      {"cst", -6}, {"mdt", -6}, {"mst", -7},
                                                      {"pdt", -7}, {"pst", -8}};

enum class token_kind { end, number, word, mark };

struct token
{
    token_kind kind = token_kind::end;
    std::string_view text;

    bool is_mark(char c) const { return kind == token_kind::mark && text.front() == c; }
    bool is_number_of(std::size_t min_digits, std::size_t max_digits) const
    {
        return kind == token_kind::number && text.size() >= min_digits && text.size() <= max_digits;
    }
    // The number's value; far too large numbers stay too large.
    int value() const
    {
        constexpr int enough = 1'000'000;
        int sum = 0;
        for (const char c : text)
            sum = std::min(sum * 10 + (c - '0'), enough);
        return sum;
    }
};

bool is_word_character(char c)
{
    return is_letter(c) || static_cast<unsigned char>(c) >= 0x80;
}

// Reads numbers, words and marks of one character. Blanks and comments may stand between any two
// (RFC 5322 4.3).
class token_reader
{
public:
    explicit token_reader(std::string_view text) : rest_(text) { take(); }

    const token& peek() const { return next_; }
    token take()
    {
        skip_blanks();
        token read;
        if (!rest_.empty()) {
            const char c = rest_.front();
            read.kind = is_digit(c)            ? token_kind::number
                        : is_word_character(c) ? token_kind::word
                                               : token_kind::mark;
            std::size_t length = 1;
            while (read.kind != token_kind::mark && length < rest_.size() &&
                   (read.kind == token_kind::number ? is_digit(rest_[length])
                                                    : is_word_character(rest_[length])))
                ++length;
            read.text = rest_.substr(0, length);
            rest_.remove_prefix(length);
        }
        return std::exchange(next_, read);
    }

private:
    // A comment that is never closed runs to the end.
    void skip_blanks()
    {
        for (;;) {
            rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
            if (!rest_.starts_with('('))
                return;
            rest_.remove_prefix(std::min(comment_end(rest_, 0), rest_.size()));
        }
    }

    std::string_view rest_;
    token next_;
};

// `jan`, `Sept` and `September`; 0 if it is no month.
int month_of(std::string_view word)
{
    const auto small = to_lower_ascii(word);
    const auto* const found =
        std::find_if(std::begin(months), std::end(months),
                     [&](std::string_view month) { return month.starts_with(small); });
    return small.size() >= 3 && found != std::end(months)
               ? static_cast<int>(found - std::begin(months)) + 1
               : 0;
}

class date_reader
{
public:
    explicit date_reader(std::string_view text) : tokens_(text) {}

    std::optional<time_point> read()
    {
        while (tokens_.peek().kind != token_kind::end && take_piece(tokens_.take())) {
        }
        const bool is_whole = year_ && month_ && day_ && time_ && !is_broken_;
        if (!is_whole || *year_ < 1'900 || *year_ > 9'999)
            return std::nullopt;
        const year_month_day date{year{*year_}, month{static_cast<unsigned>(*month_)},
                                  day{static_cast<unsigned>(*day_)}};
        if (!date.ok())
            return std::nullopt;
        const time_point moment = sys_days{date} + *time_ - offset_.value_or(0min);
        constexpr time_point year_10000 = sys_days{year{10'000} / January / 1};
        return moment < year_10000 ? std::optional(moment) : std::nullopt;
    }

private:
    // False ends the parse: after the zone anything may follow.
    bool take_piece(const token& given)
    {
        bool is_taken = false;
        if (given.kind == token_kind::number)
            is_taken = take_number(given);
        else if (given.kind == token_kind::word)
            is_taken = time_ ? take_zone(given.text) : take_name(given.text);
        else if (time_ && (given.is_mark('+') || given.is_mark('-')))
            is_taken = take_offset(given.is_mark('-'));
        else
            is_taken = given.is_mark(',') || (!time_ && (given.is_mark('-') || given.is_mark('.')));
        is_broken_ = is_broken_ || (!is_taken && !offset_);
        return is_taken;
    }

    bool take_name(std::string_view word)
    {
        if (const int month = month_of(word); month != 0 && !month_) {
            month_ = month;
            return true;
        }
        const bool is_day_name = !day_ && !month_ && !year_;
        return is_day_name ||
               (day_ && month_ && year_ && equals_ignoring_ascii_case(word, "T")); // ISO 8601
    }

    bool take_number(const token& given)
    {
        if (tokens_.peek().is_mark(':') && !time_)
            return take_time(given);
        const bool is_year = given.text.size() > 2 || time_ || (day_ && month_);
        if (is_year)
            return take_year(given);
        auto& target = year_ && !month_ ? month_ : day_; // ISO 8601 begins with the year
        return !std::exchange(target, given.value());
    }

    // RFC 5322 4.3: 2024, 24, 94 and 124 are years.
    bool take_year(const token& given)
    {
        if (year_ || given.text.size() < 2)
            return false;
        const int value = given.value();
        const bool is_of_this_century = given.text.size() == 2 && value < 50;
        year_ = given.text.size() > 3 ? value : is_of_this_century ? 2'000 + value : 1'900 + value;
        return true;
    }

    bool take_time(const token& hour)
    {
        tokens_.take(); // the colon
        const auto minute = tokens_.take();
        is_broken_ = !day_ || !month_ || !hour.is_number_of(1, 2) || !minute.is_number_of(1, 2) ||
                     hour.value() > 23 || minute.value() > 59;
        if (is_broken_)
            return false;
        time_ = hours{hour.value()} + minutes{minute.value()};
        if (!tokens_.peek().is_mark(':'))
            return true;
        tokens_.take();
        const auto second = tokens_.take();
        is_broken_ = !second.is_number_of(1, 2) || second.value() > 60; // 60 is a leap second
        if (is_broken_)
            return false;
        *time_ += seconds{second.value()};
        if (tokens_.peek().is_mark('.')) {
            tokens_.take();
            if (tokens_.peek().kind == token_kind::number)
                tokens_.take();
        }
        return true;
    }

    bool take_zone(std::string_view word)
    {
        const bool is_afternoon = equals_ignoring_ascii_case(word, "PM");
        if (is_afternoon || equals_ignoring_ascii_case(word, "AM")) {
            is_broken_ = std::exchange(has_half_, true) || *time_ < 1h || *time_ >= 13h;
            if (*time_ >= 12h)
                *time_ -= 12h;
            if (is_afternoon)
                *time_ += 12h;
            return !is_broken_;
        }
        if (offset_)
            return true;
        const auto* const known =
            std::find_if(std::begin(zones), std::end(zones), [word](const auto& zone) {
                return equals_ignoring_ascii_case(zone.first, word);
            });
        offset_ = hours{known == std::end(zones) ? 0 : known->second};
        return true;
    }

    // `+0200`, also after a name: `GMT+0200`.
    bool take_offset(bool is_west)
    {
        if (std::exchange(has_offset_, true))
            return false;
        const auto digits = tokens_.take();
        is_broken_ = !digits.is_number_of(1, 4);
        if (is_broken_)
            return false;
        const bool has_minutes = digits.text.size() > 2;
        const int hour = has_minutes ? digits.value() / 100 : digits.value();
        int minute = has_minutes ? digits.value() % 100 : 0;
        if (!has_minutes && tokens_.peek().is_mark(':')) {
            tokens_.take();
            const auto behind = tokens_.take();
            is_broken_ = !behind.is_number_of(2, 2);
            minute = behind.kind == token_kind::number ? behind.value() : 0;
        }
        is_broken_ = is_broken_ || minute > 59;
        offset_ = (hours{hour} + minutes{minute}) * (is_west ? -1 : 1);
        return !is_broken_;
    }

    token_reader tokens_;
    std::optional<int> year_, month_, day_;
    std::optional<seconds> time_; // of the day
    std::optional<minutes> offset_;
    bool has_offset_ = false; // in digits
    bool has_half_ = false;   // AM or PM
    bool is_broken_ = false;
};

} // namespace

std::optional<time_point> parse_date(std::string_view value)
{
    return date_reader(value).read();
}

} // namespace tempinbox::mime
