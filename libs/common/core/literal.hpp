#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tempinbox {

// A string literal as a template argument, such as the name of a field.
template <std::size_t Size>
struct literal
{
    char characters[Size] = {}; // with the final zero

    // NOLINTNEXTLINE(google-explicit-constructor): `f<"name">()` is what it is for.
    consteval literal(const char (&text)[Size]) { std::copy_n(text, Size, characters); }

    constexpr std::string_view text() const { return {characters, Size - 1}; }
};

} // namespace tempinbox
