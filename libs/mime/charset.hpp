#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// Decodes text in the named charset into valid UTF-8. Labels follow the WHATWG encoding standard
// (iso-8859-1 is windows-1252, gb2312 is gb18030). Valid UTF-8 overrides a us-ascii or missing
// label. Unknown labels fall back to UTF-8 if valid, else windows-1252. Bytes that do not fit
// become U+FFFD.
std::string to_utf8(std::string_view bytes, std::string_view charset);

// Removes the marks U+FEFF at the beginning of a text.
std::string_view without_byte_order_mark(std::string_view utf8);

// The charset that a body's byte order mark names, which counts more than a label (WHATWG Encoding
// 6); empty if there is none.
std::string_view marked_charset(std::string_view bytes, std::string_view label);

// The charset of a `<meta charset=…>` or its http-equiv form in the first 1,024 bytes, in lower
// case; empty if there is none.
std::string meta_charset(std::string_view html);

} // namespace tempinbox::mime
