#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// Decodes text by iconv's converter of that name, which must be one of few: each stays open. What
// does not fit becomes U+FFFD. If iconv has no such converter the bytes come back as they are.
std::string convert(const char* charset, std::string_view bytes);

} // namespace tempinbox::mime
