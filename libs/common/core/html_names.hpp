#pragma once

#include <array>
#include <span>
#include <string_view>

namespace tempinbox {

// A named character reference of HTML 13.5.
struct html_name
{
    std::string_view name; // without its `&`, with the semicolon where it is part of the name
    std::array<char32_t, 2> text{}; // the second is 0 where it is one character
};

// All 2,231 in byte order. tools/html_names.py generates the source.
extern const std::span<const html_name> html_names;

} // namespace tempinbox
