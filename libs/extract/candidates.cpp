#include "extract/candidates.hpp"

#include "common/core/ascii.hpp"
#include "extract/vocabulary.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::size_t max_word_length = 40;
constexpr std::size_t min_digits = 4;
constexpr std::size_t max_digits = 10;
constexpr std::size_t max_singles = 12;

bool is_between(std::size_t value, std::size_t min_size, std::size_t max_size)
{
    return value >= min_size && value <= max_size;
}

bool has_any(std::string_view text, bool (*is_kind)(char))
{
    return std::any_of(text.begin(), text.end(), is_kind);
}

// The sizes and kinds of the groups between hyphens.
struct groups
{
    std::size_t count = 0;
    std::size_t min_size = 0;
    std::size_t max_size = 0;
    bool all_have_digits = true;
    bool all_have_capitals_alone = true; // capitals and digits only

    explicit groups(std::string_view word)
    {
        for (std::size_t from = 0; from <= word.size(); ++count) {
            const auto end = std::min(word.find('-', from), word.size());
            const auto group = word.substr(from, end - from);
            min_size = count == 0 ? group.size() : std::min(min_size, group.size());
            max_size = std::max(max_size, group.size());
            all_have_digits = all_have_digits && has_any(group, is_digit);
            all_have_capitals_alone = all_have_capitals_alone && !has_any(group, is_lower);
            from = end + 1;
        }
    }
};

// `123-456`, `123-456-789`, `1234-5678`, `12-34-56`; other groups are phone numbers, dates and the
// like.
bool is_usual_grouping(std::size_t size, std::size_t count)
{
    return (size == 3 && is_between(count, 2, 3)) || (size == 4 && count == 2) ||
           (size == 2 && count == 3);
}

// `48-29`, `12-34-56-78`, `48291-30572`, `4-8-2-9-1-3`
bool is_rare_grouping(std::size_t size, std::size_t count)
{
    return (size == 2 && (count == 2 || count == 4)) || (size == 5 && count == 2) ||
           (size == 1 && is_between(count, 4, 8));
}

std::optional<code_form> form_of_digits(std::string_view word, const groups& parts)
{
    const auto digits = word.size() - (parts.count - 1);
    const bool is_even = parts.min_size == parts.max_size;
    const bool is_known =
        parts.count == 1 || (is_even && (is_usual_grouping(parts.min_size, parts.count) ||
                                         is_rare_grouping(parts.min_size, parts.count)));
    return is_known && is_between(digits, min_digits, max_digits) ? std::optional(code_form::digits)
                                                                  : std::nullopt;
}

// `sable-tofu-iguana-lemon`, `7-guitarist-revenge`, but not `read-only-and-tested`
bool is_words(std::string_view word)
{
    std::size_t count = 0;
    std::size_t long_words = 0;
    for (std::size_t from = 0; from <= word.size(); ++count) {
        const auto end = std::min(word.find('-', from), word.size());
        const auto part = word.substr(from, end - from);
        const bool is_word = std::all_of(part.begin(), part.end(), is_letter);
        if (is_word ? !is_between(part.size(), 3, 10)
                    : !(part.size() <= 4 && std::all_of(part.begin(), part.end(), is_digit)))
            return false;
        for (const std::string_view joint : {"and", "the", "for", "not", "with", "only"})
            if (part == joint)
                return false;
        long_words += is_word && part.size() >= 4 ? 1 : 0;
        from = end + 1;
    }
    return is_between(count, 3, 8) && long_words >= 2 && word.size() >= 14;
}

std::optional<code_form> form_of_groups(std::string_view word)
{
    const groups parts(word);
    const auto size = word.size() - (parts.count - 1);
    if (!has_any(word, is_letter))
        return form_of_digits(word, parts);
    const bool has_digit = has_any(word, is_digit);
    if (parts.count == 1)
        return has_digit && is_between(size, 4, 12) ? std::optional(code_form::mixed)
                                                    : std::nullopt;
    if (word.find('-') == 1 && is_upper(word[0]) && parts.count == 2 &&
        !has_any(word.substr(2), is_letter) && is_between(size, 5, 9))
        return code_form::prefixed;
    if (!is_between(parts.count, 2, 5))
        return std::nullopt;
    if (parts.all_have_capitals_alone && has_digit && parts.max_size <= 8 &&
        is_between(size, 5, 20))
        return code_form::capital_groups;
    if (parts.all_have_capitals_alone && !has_digit && parts.min_size == parts.max_size &&
        is_between(parts.max_size, 3, 5) && size <= 12)
        return code_form::letter_groups;
    if (parts.all_have_digits && parts.min_size == parts.max_size &&
        is_between(parts.max_size, 3, 6) && size <= 20)
        return code_form::small_groups;
    return is_words(word) ? std::optional(code_form::words) : std::nullopt;
}

std::optional<code_form> form_of(std::string_view word)
{
    if (word.size() > max_word_length)
        return std::nullopt;
    if (word.find('-') == std::string_view::npos && !has_any(word, is_digit)) {
        const bool is_all_capitals = std::all_of(word.begin(), word.end(), is_upper);
        return is_all_capitals && is_between(word.size(), 4, 8) ? std::optional(code_form::letters)
                                                                : std::nullopt;
    }
    return form_of_groups(word);
}

std::string letters_and_digits(std::string_view text)
{
    std::string kept;
    std::copy_if(text.begin(), text.end(), std::back_inserter(kept), is_letter_or_digit);
    return kept;
}

// The first mark that may separate groups of digits, or nothing. Dashes up to U+2013 are hyphens.
std::string_view group_mark(std::string_view text)
{
    for (const std::string_view mark :
         {"-", ".", "\xc2\xb7", "\xe2\x80\x94", "\xe2\x80\xa2", "\xe2\x80\xa7", "\xe2\x88\x99",
          "\xe2\x8b\x85", "\xe3\x83\xbb"}) // · — • ‧ ∙ ⋅ ・
        if (text.starts_with(mark))
            return text.substr(0, mark.size());
    return {};
}

// What stands between two groups of digits: blanks, or one mark with or without blanks around it;
// empty if it is more than that.
std::string_view group_separator(std::string_view text)
{
    constexpr std::size_t max_blanks = 3;
    std::size_t size = 0;
    const auto skip_blanks = [&] {
        for (std::size_t blanks = 0; blanks < max_blanks && size < text.size() && text[size] == ' ';
             ++blanks)
            ++size;
    };
    skip_blanks();
    const auto mark = group_mark(text.substr(size));
    const bool may_end_sentence = mark == "." && size == 0;
    size += mark.size();
    const auto past_mark = size;
    skip_blanks();
    return may_end_sentence && size > past_mark ? std::string_view{} : text.substr(0, size);
}

// Digits in groups that are not the usual ones, or not separated in the usual way.
bool is_loose(std::string_view text)
{
    const auto size = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    if (size == text.size())
        return false;
    const auto separator = group_separator(text.substr(size));
    return (separator != " " && separator != "-") ||
           !is_usual_grouping(size, (text.size() + 1) / (size + 1));
}

bool starts_line(std::string_view text, std::size_t at)
{
    constexpr std::size_t max_indent = 16;
    for (std::size_t indent = 0; indent <= max_indent; ++indent, --at)
        if (at == 0 || text[at - 1] == '\n')
            return true;
        else if (text[at - 1] != ' ')
            return false;
    return false;
}

} // namespace

std::optional<candidate_code> candidate_scanner::next()
{
    for (;;) {
        const auto word = take_word();
        if (word.empty())
            return std::nullopt;
        candidate_code found;
        if (const auto singles = join_single(word); !singles.empty()) {
            at_ = begin_of(singles) + singles.size();
            found.text = singles;
            found.value = letters_and_digits(singles);
            found.form = has_any(singles, is_letter) ? code_form::mixed : code_form::digits;
            return found;
        }
        const auto joined = join_groups(word);
        at_ = begin_of(joined) + joined.size();
        const auto form =
            joined.size() > word.size() ? std::optional(code_form::digits) : form_of(word);
        if (!form)
            continue;
        found.text = joined;
        found.form = *form;
        found.value = *form == code_form::digits     ? letters_and_digits(joined)
                      : *form == code_form::prefixed ? std::string(joined.substr(2))
                                                     : std::string(joined);
        found.is_loose = *form == code_form::digits && is_loose(joined);
        return found;
    }
}

// Returns the next run of letters, digits and inner hyphens.
std::string_view candidate_scanner::take_word()
{
    while (at_ < text_.size() && !is_letter_or_digit(text_[at_]))
        ++at_;
    const auto begin = at_;
    while (at_ < text_.size() && (is_letter_or_digit(text_[at_]) ||
                                  (text_[at_] == '-' && at_ + 1 < text_.size() &&
                                   is_letter_or_digit(text_[at_ + 1]) && !ends_noun(at_))))
        ++at_;
    return text_.substr(begin, at_ - begin);
}

bool candidate_scanner::ends_noun(std::size_t at)
{
    while (!labels_.empty() && labels_.front().end < at)
        labels_ = labels_.subspan(1);
    return !labels_.empty() && labels_.front().end == at;
}

// `4 8 2 9 1 3`: single digits and capitals, each a cell or a line of its own; empty if too few.
std::string_view candidate_scanner::join_single(std::string_view word)
{
    const auto begin = begin_of(word);
    if (word.size() != 1 || begin < singles_looked_to_)
        return {};
    const bool begins_line = starts_line(text_, begin);
    if (is_lower(word[0]) && !begins_line)
        return {};
    std::size_t count = 1;
    auto end = begin + 1;
    const auto separator = group_separator(text_.substr(end));
    bool has_digit = is_digit(word[0]);
    bool has_letter = !has_digit;
    for (auto at = end; at < text_.size() && count <= max_singles;) {
        const auto blanks = at;
        while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\n') && at - blanks < 8)
            ++at;
        if (text_.substr(blanks).starts_with(separator))
            at = std::max(at, blanks + separator.size());
        const bool is_single =
            at > blanks && at < text_.size() &&
            (is_digit(text_[at]) || is_upper(text_[at]) || (begins_line && is_lower(text_[at]))) &&
            (at + 1 == text_.size() ||
             !(is_letter_or_digit(text_[at + 1]) || text_[at + 1] == '-'));
        if (!is_single)
            break;
        // After `4 8 2 9 1 3` the next sentence begins: `I did not ask for it`, `P.O. Box`.
        const bool ends_line = at + 1 == text_.size() || text_[at + 1] == '\n';
        if (is_letter(text_[at]) && !has_letter && count >= min_digits && !ends_line)
            break;
        has_digit = has_digit || is_digit(text_[at]);
        has_letter = has_letter || is_letter(text_[at]);
        ++count;
        end = ++at;
    }
    singles_looked_to_ = end;
    // Small letters are one only where they fill their line: `a u 8 k u f`.
    const auto joined = text_.substr(begin, end - begin);
    if (has_any(joined, is_lower) && end < text_.size() && text_[end] != '\n')
        return {};
    return has_digit && is_between(count, min_digits, max_singles)
               ? text_.substr(begin, end - begin)
               : std::string_view{};
}

// `123 456`, `123 - 456`, `123.456`: digits in groups of one size, each separated by the same
// blanks and marks. Returns the word itself if there are no such groups.
std::string_view candidate_scanner::join_groups(std::string_view word) const
{
    const auto size = word.size();
    if (!is_between(size, 2, 5) || !std::all_of(word.begin(), word.end(), is_digit))
        return word;
    const auto begin = begin_of(word);
    const auto separator = group_separator(text_.substr(begin + size));
    if (separator.empty())
        return word;
    auto end = begin + size;
    std::size_t count = 1;
    for (; count < 5; ++count) {
        const auto group = text_.substr(std::min(end + separator.size(), text_.size()), size);
        const auto past = end + separator.size() + size;
        const bool is_group = text_.substr(end).starts_with(separator) && group.size() == size &&
                              std::all_of(group.begin(), group.end(), is_digit) &&
                              (past >= text_.size() ||
                               !(is_letter_or_digit(text_[past]) ||
                                 (text_[past] == '-' && separator != "-" &&
                                  past + 1 < text_.size() && is_letter_or_digit(text_[past + 1]))));
        if (!is_group)
            break;
        end = past;
    }
    const bool is_amount = size == 2 && count == 2 && separator == ".";
    const bool is_known =
        !is_amount && (is_usual_grouping(size, count) || is_rare_grouping(size, count));
    return is_known ? text_.substr(begin, end - begin) : word;
}

double form_weight(const candidate_code& one)
{
    const auto size = one.value.size();
    switch (one.form) {
    case code_form::digits:
        return size == 6 ? 0.15 : size == 4 || size == 5 || size == 8 ? 0.1 : 0.03;
    case code_form::prefixed:
        return 0.15;
    case code_form::capital_groups:
    case code_form::letter_groups:
    case code_form::small_groups:
        return 0.08;
    case code_form::mixed:
        return size >= 6 ? 0.06 : 0.03;
    case code_form::letters:
    case code_form::words:
        return 0.03;
    }
    return 0;
}

bool is_year(std::string_view value)
{
    return value.size() == 4 && (value.starts_with("19") || value.starts_with("20"));
}

bool is_date(std::string_view value)
{
    return value.size() == 8 && value.starts_with("20") && value.substr(4, 2) >= "01" &&
           value.substr(4, 2) <= "12" && value.substr(6, 2) >= "01" && value.substr(6, 2) <= "31";
}

bool is_numbered_word(std::string_view value)
{
    const auto digits = std::find_if(value.begin(), value.end(), is_digit);
    const auto letters = static_cast<std::size_t>(digits - value.begin());
    return letters >= 3 && value.size() - letters <= 4 &&
           std::all_of(digits, value.end(), is_digit) &&
           std::all_of(value.begin(), digits, is_letter);
}

bool is_numbered_name(std::string_view value)
{
    static const RE2 name(
        R"(^(?:[a-z]?(?:[A-Z][a-z]+)+[0-9]{1,2}(?:[A-Z][a-z]+)*|[0-9]{1,2}(?:[A-Z][a-z]+)+)$)");
    return says(value, name);
}

bool is_quantity(std::string_view value)
{
    static const RE2 quantity(
        R"(^[0-9]+(?:st|nd|rd|th|am|pm|a|p|h|hr|hrs|min|mins|s|sec|ms|d|x|k|m|gb|mb|kb|tb|px|pt|kg|km|cm|mm|mi|w|v|g|c|f|er|e|eme|ème)$)",
        case_blind());
    return says(value, quantity);
}

bool is_masked(std::string_view value)
{
    const auto mask = std::min(value.find_first_not_of("Xx"), value.size());
    const auto shown = value.substr(mask);
    return mask >= 2 && shown.size() >= 2 && std::all_of(shown.begin(), shown.end(), is_digit);
}

bool is_short_date(std::string_view text)
{
    static const RE2 date(
        R"(^(?:[0-3][0-9]([. -])[01][0-9][. -][0-9]{2}|[01][0-9][. -][0-3][0-9][. -][0-9]{2}|[0-9]{2}[. -][01][0-9][. -][0-3][0-9])$)");
    return text.size() == 8 && !is_digit(text[2]) && says(text, date);
}

} // namespace tempinbox::extract
