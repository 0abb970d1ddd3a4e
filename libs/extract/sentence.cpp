#include "extract/sentence.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "extract/vocabulary.hpp"

#include <algorithm>

namespace tempinbox::extract {

std::size_t words_in(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return is_letter_or_digit(c) || static_cast<std::uint8_t>(c) >= 0x80;
    }));
}

bool ends_sentence(std::string_view text, std::size_t begin, std::size_t end)
{
    static const RE2 mark(R"([.!?](?:\n| +[^ \p{Ll}])|[。！？।])");
    static const RE2 abbreviation(
        R"((?:^|\PL)(?:\pL|dr|mr|mrs|ms|st|jr|sr|no|nr|co|inc|ltd|corp|dept|prof|yahoo)$)",
        case_blind());
    // Includes the next character, of up to four bytes: a small letter continues the sentence.
    const auto part = take_bytes(text.substr(begin), end - begin + 4);
    re2::StringPiece found;
    for (std::size_t at = 0;
         mark.Match(piece(part), at, part.size(), RE2::UNANCHORED, &found, 1);) {
        const auto position = static_cast<std::size_t>(found.data() - part.data());
        if (!says(part.substr(0, position), abbreviation))
            return true;
        at = position + found.size();
    }
    return false;
}

bool is_named(std::string_view line_before)
{
    const auto name = trim(line_before);
    const auto words = name.substr(0, name.find_last_not_of(":. ") + 1);
    const bool has_mark = name.ends_with(':') || name.ends_with("...");
    return has_mark && !words.empty() && words.size() <= 60 && !is_lower(words.front()) &&
           words_in(words) > 1 && words.find_first_of(".,;!?>") == std::string_view::npos;
}

} // namespace tempinbox::extract
