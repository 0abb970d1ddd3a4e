#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mime {

// A header field as it came: the value still folded and encoded.
struct field
{
    std::string_view name;
    std::string_view value;
};

// Where a line of a header block has its name: RFC 5322 2.2, blanks before the colon tolerated
// (obs-optional). Empty for what is no field.
std::string_view field_name(std::string_view line);

// RFC 5322 2.2.3: the line breaks are removed, nothing else; blanks at both ends go.
std::string unfold(std::string_view value);

// Past the comment that begins at `at` and may hold others (RFC 5322 3.2.2); npos where it is never
// closed.
std::size_t comment_end(std::string_view text, std::size_t at);

// Of the encoded word a text begins with; 0 where there is none.
std::size_t encoded_word_length(std::string_view text);

// Encoded words (RFC 2047) decoded, everything else as UTF-8 by `charset` where it is not UTF-8
// already; one line. `has_raw_bytes` is set where bytes past ASCII were no UTF-8.
std::string decode_text(std::string_view unfolded, std::string_view charset, bool& has_raw_bytes);

// A line whose grammar must be read before its encoded words are decoded, as UTF-8: raw bytes
// outside of encoded words are read by `charset`, those inside (which RFC 2047 5 forbids) are
// escaped and so keep the charset of their word.
std::string escape_raw_bytes(std::string_view unfolded, std::string_view charset);

} // namespace tempinbox::mime
