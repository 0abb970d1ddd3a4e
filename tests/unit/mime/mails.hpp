#pragma once

#include "mime/view.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace tempinbox::testing {

// A mail written with plain newlines, as it comes over the wire.
inline std::string mail(std::string_view text)
{
    std::string wire;
    for (const char c : text) {
        if (c == '\n')
            wire += '\r';
        wire += c;
    }
    return wire;
}

inline mime::view view_of(std::string_view text)
{
    return mime::read_view(mail(text));
}

inline bool has_defect(const mime::view& view, std::string_view name)
{
    return std::find(view.defects.begin(), view.defects.end(), name) != view.defects.end();
}

inline std::string repeated(std::string_view unit, std::size_t times)
{
    std::string text;
    text.reserve(unit.size() * times);
    for (std::size_t i = 0; i < times; ++i)
        text += unit;
    return text;
}

} // namespace tempinbox::testing
