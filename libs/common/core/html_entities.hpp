#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox {

// Where a piece of HTML stands: in values of attributes fewer character references hold without their semicolon.
enum class html_place { text, attribute };

// `&amp;`, `&#43;`, `&#x2F;`, `&nbsp`: how long it is, and the Unicode character it stands for.
struct character_reference
{
    std::size_t length = 0; // 0: none
    char32_t point = 0;
};

// The character reference at the front (HTML 13.2.5.72). Knows HTML 4's names and those met in mail, not all 2231 of HTML 5.
character_reference read_character_reference(std::string_view html, html_place place);

// Any bytes will do; all that is no reference stays as it is. Never longer than what is read.
std::string decode_character_references(std::string_view html, html_place place);

// Of a code point that is no surrogate.
std::string encode_utf8(char32_t point);

// What the reader sees of a character: a blank for the wide and the narrow ones, nothing for the invisible.
std::string as_shown(char32_t point);

} // namespace tempinbox
