#pragma once

#include <cstring>
#include <string_view>

namespace tempinbox::mime {

struct line
{
    std::string_view text; // without the line end
    std::size_t begin = 0;
    std::size_t end = 0; // after the line end
};

// The line that begins at `begin`, up to its LF or the end.
inline line line_at(std::string_view raw, std::size_t begin)
{
    line found;
    found.begin = begin;
    const auto* newline =
        static_cast<const char*>(std::memchr(raw.data() + begin, '\n', raw.size() - begin));
    const std::size_t stop = newline ? static_cast<std::size_t>(newline - raw.data()) : raw.size();
    found.end = newline ? stop + 1 : stop;
    found.text = raw.substr(begin, stop - begin);
    if (!found.text.empty() && found.text.back() == '\r')
        found.text.remove_suffix(1);
    return found;
}

} // namespace tempinbox::mime
