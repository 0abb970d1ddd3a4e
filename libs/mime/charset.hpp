#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// Text in the named charset as clean UTF-8. Labels are read as the WHATWG encoding standard reads
// them (iso-8859-1 is windows-1252, gb2312 is gb18030); valid UTF-8 beats a us-ascii or missing
// label; unknown labels fall back to UTF-8 where valid, else windows-1252; bytes that do not fit
// become U+FFFD.
std::string to_utf8(std::string_view bytes, std::string_view charset);

// What a `<meta charset=…>` or its http-equiv form among the first 1,024 bytes says, in lower case;
// empty where nothing does.
std::string meta_charset(std::string_view html);

} // namespace tempinbox::mime
