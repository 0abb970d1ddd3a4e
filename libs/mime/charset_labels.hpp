#pragma once

#include <string_view>

namespace tempinbox::mime {

// iconv's name for the charset of a lower-case label, whatever marks are between its letters; null
// if it is not in our tables. The list is closed, so that a mail can open at most as many
// converters as there are rows.
const char* find_charset(std::string_view label);

} // namespace tempinbox::mime
