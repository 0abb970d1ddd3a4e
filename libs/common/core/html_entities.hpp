#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox {

// Where a piece of HTML stands: in values of attributes fewer character references hold without
// their semicolon.
enum class html_context { text, attribute };

// `&amp;`, `&#43;`, `&#x2F;`, `&nbsp`: how long it is, and the Unicode characters it stands for.
struct character_reference
{
    std::size_t length = 0;         // 0: none
    std::array<char32_t, 2> text{}; // the second is 0 but for some of the names
};

// The character reference at the front, by the longest of HTML's names that is there
// (HTML 13.2.5.72).
character_reference read_character_reference(std::string_view html, html_context context);

// Any bytes will do; all that is no reference stays as it is. At most a fifth longer than what is
// read (`&nGt;`).
std::string decode_character_references(std::string_view html, html_context context);

// Of a code point that is no surrogate.
std::string encode_utf8(char32_t point);

// What the reader sees of it: a blank for wide and narrow ones, nothing for the invisible.
std::string as_shown(const character_reference& reference);

} // namespace tempinbox
