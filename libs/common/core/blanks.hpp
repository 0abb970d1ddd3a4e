#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox {

// Blanks of any kind: Unicode's White_Space, so that a no-break space is one and a zero-width space
// is none.

// The bytes of the blank that the text begins with; 0 if it begins with none.
std::size_t blank_length(std::string_view utf8);

// Removes blanks of any kind at both ends.
std::string_view trim_blanks(std::string_view utf8);

// Every blank becomes a space.
std::string with_plain_blanks(std::string_view utf8);

} // namespace tempinbox
