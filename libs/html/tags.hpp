#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::html {

// HTML tags and comments, split as browsers split them (HTML 13.2.5). Accepts any bytes; scanning
// on from each end takes linear time.

bool is_space(char c);

// Whether a tag, a comment or the like begins at `at`: `<` is plain text unless a letter, `/`, `!`
// or `?` follows.
bool is_markup_at(std::string_view html, std::size_t at);

// The offset past the markup that begins at `at`; the end of the text if it is not closed. Quoted
// values may hold `>`.
std::size_t markup_end(std::string_view html, std::size_t at);

// In lower case, at most 16 characters; empty for a comment and the like.
std::string tag_name(std::string_view tag);

// Whether it opens an element: not an end tag, and not self-closing.
bool is_opening(std::string_view tag);

// Characters that may separate attributes: at least as many as there are.
std::size_t count_separators(std::string_view tag);

// The value of the first attribute of that name, its character references decoded.
std::optional<std::string> find_attribute(std::string_view tag, std::string_view name);

// Where `href` leads, as browsers take it: without line breaks, tabs and surrounding blanks. Empty
// if the tag has none.
std::string find_href(std::string_view tag);

// The offset past the end tag of an element whose content is not HTML; the end of the text if it
// has none.
std::size_t element_end(std::string_view html, std::size_t at, std::string_view name);

} // namespace tempinbox::html
