#pragma once

#include "html/color.hpp"
#include "html/declarations.hpp"

#include <string_view>

namespace tempinbox::html {

// How the text in an element looks, as far as it says whether a person sees it.
struct look
{
    bool is_gone = false;   // no element in it can be seen
    bool is_hidden = false; // visibility: an element in it can say otherwise
    bool is_tiny = false;   // font-size: likewise
    color text{0, 0, 0};
    bool is_text_known = true; // not in every notation
    color background{255, 255, 255};
    bool is_background_known = true; // a picture may have any color

    bool is_seen() const;
    // Of a picture.
    bool takes_room() const { return !is_gone && !is_hidden; }
    bool operator==(const look&) const = default;
};

// The look of an element that stands in another, by its name, its attributes and what the cascade
// declares for it.
look look_in(const look& parent, std::string_view name, std::string_view tag,
             const declarations& css);

} // namespace tempinbox::html
