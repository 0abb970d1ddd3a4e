#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::html {

// HTML as its reader would see it, as plain text: without tags, scripts and styles, entities
// decoded, blocks on lines of their own. One pass, no tree; at most `limit` bytes.
std::string to_text(std::string_view html, std::size_t limit);

} // namespace tempinbox::html
