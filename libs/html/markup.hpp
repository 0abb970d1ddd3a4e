#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::html {

// What a piece of HTML means to a reader.
enum class markup { character, entity, line_break, cell, nothing };

struct markup_step
{
    markup means = markup::character;
    std::size_t length = 1; // bytes of the source
    std::string text;       // of an entity: one or two characters, or none
};

// Reads what begins at `at`. U+0000 is nothing (visible_page.hpp), and many are one step. An
// element that browsers do not show is one step. Any bytes are accepted; a whole walk is linear if
// each step begins where the last one ended.
markup_step read_markup(std::string_view html, std::size_t at);

} // namespace tempinbox::html
