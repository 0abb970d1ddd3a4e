#pragma once

#include <array>
#include <span>
#include <string_view>

namespace tempinbox::html {

// A named character reference of HTML 13.5.
struct reference_name
{
    std::string_view name; // without its `&`, with the semicolon where it is part of the name
    std::array<char32_t, 2> text{}; // the second is 0 where it is one character
};

// All 2,231 in byte order. tools/generate/html_reference_names.py generates the source.
extern const std::span<const reference_name> reference_names;

} // namespace tempinbox::html
