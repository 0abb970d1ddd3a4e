#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::html {

// Where a piece of HTML is: in attribute values, fewer character references are valid without their
// semicolon.
enum class reference_context { text, attribute };

// `&amp;`, `&#43;`, `&#x2F;`, `&nbsp`: its length, and the Unicode characters it stands for.
struct character_reference
{
    std::size_t length = 0;         // 0: none
    std::array<char32_t, 2> text{}; // the second is 0 except for some names
};

// The character reference at the front, matching the longest HTML name that is there (HTML
// 13.2.5.72).
character_reference read_character_reference(std::string_view html, reference_context context);

// Accepts any bytes; leaves what is not a reference as it is. The result is at most a fifth longer
// than the input (`&nGt;`).
std::string decode_character_references(std::string_view html, reference_context context);

// What a person sees of it: a space for wide and narrow ones, nothing for invisible characters.
std::string as_shown(const character_reference& reference);

} // namespace tempinbox::html
