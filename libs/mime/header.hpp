#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mime {

// A header field as received: the value still folded and encoded.
struct field
{
    std::string_view name;
    std::string_view value;
};

// The field name that a header line begins with: RFC 5322 2.2, blanks before the colon tolerated
// (obs-optional). Empty if the line is no field.
std::string_view field_name(std::string_view line);

// RFC 5322 2.2.3: removes the line breaks and nothing else; trims blanks at both ends. A line that
// is not indented is a parameter, and gets its semicolon.
std::string unfold(std::string_view value);

// The index after the comment that begins at `at` and may nest (RFC 5322 3.2.2); npos if unclosed.
std::size_t comment_end(std::string_view text, std::size_t at);

// The length of the encoded word that a text begins with; 0 if there is none.
std::size_t encoded_word_length(std::string_view text);

// Decodes encoded words (RFC 2047); the rest is read by `charset` unless it is valid UTF-8. One
// line of UTF-8, without blanks at its ends and byte order marks at the beginning of its pieces.
// Sets `has_raw_bytes` if non-ASCII bytes were not valid UTF-8.
std::string decode_text(std::string_view unfolded, std::string_view charset, bool& has_raw_bytes);

// For fields that must be parsed before their encoded words are decoded; returns UTF-8. Raw bytes
// outside encoded words are read by `charset`; those inside (which RFC 2047 5 forbids) are escaped,
// and so keep the charset of their word.
std::string escape_raw_bytes(std::string_view unfolded, std::string_view charset);

} // namespace tempinbox::mime
