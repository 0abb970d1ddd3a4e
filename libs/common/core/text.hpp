#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox {

bool is_valid_utf8(std::string_view text);

// Valid UTF-8 without NUL: each bad byte and each NUL becomes U+FFFD. PostgreSQL text and jsonb
// accept nothing else.
std::string to_clean_utf8(std::string_view text);

// Code points of valid UTF-8.
std::size_t count_characters(std::string_view utf8);

// At most `characters` code points of valid UTF-8, cut on a character boundary.
std::string_view take_characters(std::string_view utf8, std::size_t characters);

// At most `bytes` bytes, cut on a character boundary.
std::string_view take_bytes(std::string_view utf8, std::size_t bytes);

// For messages: in double quotes, cleaned of control characters, at most 60 characters with an
// ellipsis.
std::string quote(std::string_view text);
// For messages that begin with a field's name: the name as it is, or quoted unless it has 1 to 60
// letters, digits and signs of `._-[]`.
std::string quote_name(std::string_view name);

std::string to_lower_ascii(std::string_view text);
bool equals_ignoring_ascii_case(std::string_view a, std::string_view b);
std::string_view trim(std::string_view text);
// Linear, however often `what` occurs.
std::string replace_all(std::string_view text, std::string_view what, std::string_view with);

// Pieces between separators, trimmed, empty ones left out.
std::vector<std::string> split_list(std::string_view text, char separator = ',');
// With ", " between the texts.
std::string join_list(const std::vector<std::string>& texts);

} // namespace tempinbox
