#pragma once

#include <string_view>

namespace tempinbox::mime {

// What iconv calls the charset of a label in lower case; null where it is none of ours. The list is
// closed, so that a mail can have no more converters opened than it has rows.
const char* find_charset(std::string_view label);

} // namespace tempinbox::mime
