#include "tempinboxctl/condition_text.hpp"

#include "common/core/text.hpp"

namespace tempinbox::ctl {
namespace {

std::string_view take_word(std::string_view& text)
{
    text = trim(text);
    const auto word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

failure bad_condition(std::string_view text, std::string_view reason)
{
    return failure{errc::invalid_argument,
                   "--when must be FIELD OPERATOR VALUE such as 'subject contains invoice', not " +
                       quote(text) + ": " + std::string(reason)};
}

} // namespace

result<rules::condition> parse_condition(std::string_view text)
{
    auto rest = text;
    const auto what = rules::parse_field(take_word(rest));
    if (!what)
        return bad_condition(text, what.error().message);
    const auto how = rules::parse_comparison(take_word(rest));
    if (!how)
        return bad_condition(text, how.error().message);
    rules::condition read;
    read.what = *what;
    read.how = *how;
    read.value = trim(rest);
    const auto characters = count_characters(read.value);
    if (!is_valid_utf8(read.value) || characters < 1 || characters > 500)
        return bad_condition(text, "the value must have 1 to 500 characters");
    return read;
}

} // namespace tempinbox::ctl
