#include "extract/candidates.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::size_t longest_word = 40;

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

bool is_word(char c)
{
    return is_digit(c) || is_capital(c) || (c >= 'a' && c <= 'z');
}

bool is_all_digits(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_between(std::size_t value, std::size_t least, std::size_t most)
{
    return value >= least && value <= most;
}

// `123-456`, `123-456-789`, `1234-5678`.
bool are_digit_groups(std::string_view word)
{
    const auto size = word.find('-');
    if (size != 3 && size != 4)
        return false;
    const auto groups = (word.size() + 1) / (size + 1);
    if (groups * (size + 1) != word.size() + 1 || groups < 2 || groups > (size == 3 ? 3U : 2U))
        return false;
    for (std::size_t i = 0; i < word.size(); ++i)
        if ((word[i] == '-') != (i % (size + 1) == size) || (word[i] != '-' && !is_digit(word[i])))
            return false;
    return true;
}

// Two to four groups of 3 to 6 capitals and digits, not all of them digits.
bool are_capital_groups(std::string_view word)
{
    std::size_t groups = 0;
    bool has_capital = false;
    for (std::size_t from = 0; from <= word.size(); ++groups) {
        const auto end = std::min(word.find('-', from), word.size());
        const auto group = word.substr(from, end - from);
        if (!is_between(group.size(), 3, 6) ||
            !std::all_of(group.begin(), group.end(), [](char c) { return is_digit(c) || is_capital(c); }))
            return false;
        has_capital = has_capital || std::any_of(group.begin(), group.end(), is_capital);
        from = end + 1;
    }
    return has_capital && is_between(groups, 2, 4);
}

bool has_code_form(std::string_view word)
{
    if (word.find('-') == std::string_view::npos)
        return is_all_digits(word) ? is_between(word.size(), 4, 10) : is_between(word.size(), 4, 12);
    return are_digit_groups(word) || are_capital_groups(word) || (word.starts_with("G-") && is_all_digits(word.substr(2)));
}

} // namespace

std::optional<std::string_view> candidate_scanner::next()
{
    for (;;) {
        const auto word = take_word();
        if (word.empty())
            return std::nullopt;
        const auto grouped = with_next_groups(word);
        if (grouped.size() > word.size()) {
            at_ += grouped.size() - word.size();
            return grouped;
        }
        if (has_code_form(word))
            return word;
    }
}

// The next run of letters, digits and inner hyphens that has a digit; overlong runs are passed over.
std::string_view candidate_scanner::take_word()
{
    while (at_ < text_.size()) {
        auto begin = at_;
        while (begin < text_.size() && !is_word(text_[begin]))
            ++begin;
        auto end = begin;
        bool has_digit = false;
        while (end < text_.size() &&
               (is_word(text_[end]) || (text_[end] == '-' && end + 1 < text_.size() && is_word(text_[end + 1])))) {
            has_digit = has_digit || is_digit(text_[end]);
            ++end;
        }
        at_ = end;
        if (has_digit && end - begin <= longest_word)
            return text_.substr(begin, end - begin);
    }
    return {};
}

// `123 456`, `123 456 789`, `1234 5678`: groups of one size with a blank between.
std::string_view candidate_scanner::with_next_groups(std::string_view word) const
{
    const auto size = word.size();
    if ((size != 3 && size != 4) || !is_all_digits(word))
        return word;
    const auto begin = static_cast<std::size_t>(word.data() - text_.data());
    auto end = begin + size;
    for (std::size_t groups = 1; groups < (size == 3 ? 3U : 2U); ++groups) {
        const auto group = text_.substr(std::min(end + 1, text_.size()), size);
        const auto past = end + 1 + size;
        const bool is_group = end < text_.size() && text_[end] == ' ' && group.size() == size && is_all_digits(group) &&
                              (past >= text_.size() || !is_word(text_[past]));
        if (!is_group)
            break;
        end = past;
    }
    return text_.substr(begin, end - begin);
}

} // namespace tempinbox::extract
