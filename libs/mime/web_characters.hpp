#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// Like `convert`, but with the characters of the web (https://encoding.spec.whatwg.org) where iconv
// has others or none: the euro of GBK and Macintosh, full-width signs of Big5.
std::string convert_as_web(const char* charset, std::string_view bytes);

} // namespace tempinbox::mime
