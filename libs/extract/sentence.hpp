#pragma once

#include <cstddef>
#include <string_view>

namespace tempinbox::extract {

// The bytes of a text that are neither blank nor ASCII punctuation: how much is said in it.
std::size_t words_in(std::string_view text);

// Whether a sentence ends between two places of a text. `Example Ltd. is`, `Dr. Smith` and `Yahoo!
// Mail` go on.
bool ends_sentence(std::string_view text, std::size_t begin, std::size_t end);

// `Amount: ` in front on a line of its own: the number has a name already. A line that begins small
// goes on with the sentence of the one before.
bool is_named(std::string_view line_before);

} // namespace tempinbox::extract
