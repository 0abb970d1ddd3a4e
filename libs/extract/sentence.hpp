#pragma once

#include <cstddef>
#include <string_view>

namespace tempinbox::extract {

// Counts the bytes of a text that are neither blanks nor ASCII punctuation: how much it says.
std::size_t words_in(std::string_view text);

// Whether a sentence ends between two offsets of a text. `Example Ltd. is`, `Dr. Smith` and `Yahoo!
// Mail` do not end one.
bool ends_sentence(std::string_view text, std::size_t begin, std::size_t end);

// `Amount: ` alone on the line before: the number has a name already. A line that begins with a
// small letter continues the sentence before it.
bool is_named(std::string_view line_before);

} // namespace tempinbox::extract
