#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox {

// Tags and comments of HTML, cut as browsers cut them (HTML 13.2.5). Any bytes will do; reading on
// from each end is linear.

bool is_html_space(char c);

// A tag, a comment or the like: `<` is a character before anything but a letter, `/`, `!` or `?`.
bool is_markup_at(std::string_view html, std::size_t at);

// Past the markup that begins at `at`; the end of the text where it is not closed. Quoted values
// may hold `>`.
std::size_t markup_end(std::string_view html, std::size_t at);

// Small letters, at most 16; empty for a comment and the like.
std::string tag_name(std::string_view tag);

// Opens an element: no end tag, not closed in itself.
bool is_opening(std::string_view tag);

// The first attribute of the name, its character references decoded.
std::optional<std::string> find_attribute(std::string_view tag, std::string_view name);

// Past the end tag of an element whose content is no HTML; the end of the text where there is none.
std::size_t element_end(std::string_view html, std::size_t at, std::string_view name);

} // namespace tempinbox
