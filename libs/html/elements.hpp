#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tempinbox::html {

template <std::size_t Count>
constexpr bool is_one_of(const std::array<std::string_view, Count>& names, std::string_view name)
{
    // Most names differ in their first letter, which is cheaper to compare than to call for it.
    return std::any_of(names.begin(), names.end(), [name](std::string_view each) {
        return each.size() == name.size() && !name.empty() && each.front() == name.front() &&
               each == name;
    });
}

// Three ways in which the content of an element is not shown. All readers leave out the first; what
// a person sees (visible_page.hpp) lacks all of them.

// Hold no text of the page: every program leaves their content out.
inline constexpr std::array<std::string_view, 5> textless_elements{"script", "style", "title",
                                                                   "template", "svg"};

// Hold raw text for programs without frames or scripts (HTML 13.2.6.4.7). Browsers have both.
inline constexpr std::array<std::string_view, 4> fallback_elements{"iframe", "noembed", "noframes",
                                                                   "noscript"};

// Hold elements for programs that do not know them, or that are never displayed. Unlike the content
// of the others this is HTML, in which a sender can hide text.
inline constexpr std::array<std::string_view, 5> undisplayed_elements{"audio", "canvas", "datalist",
                                                                      "object", "video"};

} // namespace tempinbox::html
