#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::html {

// Text that a person sees, and how much was taken out of it that nobody sees.
struct visible
{
    std::string text;
    std::size_t removed = 0; // characters
};

// Takes out characters without a glyph of their own: controls but line feed and tab, zero-width and
// bidirectional ones, variation selectors, tag characters. A carriage return goes uncounted. Takes
// any bytes and gives valid UTF-8.
visible remove_invisible(std::string_view text);

// Whether a person sees anything of it: a character that is neither blank nor without a glyph.
bool has_glyph(std::string_view utf8);

// The first character from `at` on, of valid UTF-8; moves `at` past it.
char32_t take_point(std::string_view utf8, std::size_t& at);

} // namespace tempinbox::html
