#include "mime/flowed.hpp"

#include <algorithm>

namespace tempinbox::mime {
namespace {

struct flowed_line
{
    std::size_t depth = 0;
    std::string_view marks; // `>>` with the space after it; empty if not quoted
    std::string_view text;  // without quote marks, stuffing and line end
    std::string_view end;

    // RFC 3676 4.3: a signature separator ends in a space but is a fixed line.
    bool is_signature() const { return text == "-- "; }
    bool goes_on() const { return !text.empty() && text.back() == ' ' && !is_signature(); }
};

flowed_line take_line(std::string_view& rest)
{
    flowed_line taken;
    const auto newline = rest.find('\n');
    auto line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    const bool has_carriage =
        newline != std::string_view::npos && !line.empty() && line.back() == '\r';
    if (has_carriage)
        line.remove_suffix(1);
    if (newline != std::string_view::npos)
        taken.end = has_carriage ? "\r\n" : "\n";
    taken.depth = std::min(line.find_first_not_of('>'), line.size());
    auto begin = taken.depth;
    if (begin < line.size() && line[begin] == ' ')
        ++begin; // RFC 3676 4.4: stuffing
    if (taken.depth > 0)
        taken.marks = line.substr(0, begin);
    taken.text = line.substr(begin);
    return taken;
}

} // namespace

std::string unflow(std::string_view text, bool deletes_space)
{
    std::string out;
    out.reserve(text.size());
    flowed_line before;
    bool is_open = false;
    for (auto rest = text; !rest.empty();) {
        const auto line = take_line(rest);
        // RFC 3676 4.5: a change of quote depth ends a paragraph, even after a flowed line.
        const bool joins = is_open && line.depth == before.depth && !line.is_signature();
        if (joins && deletes_space)
            out.pop_back();
        if (is_open && !joins)
            out += before.end;
        if (!joins)
            out += line.marks;
        out += line.text;
        is_open = line.goes_on() && !rest.empty();
        if (!is_open)
            out += line.end;
        before = line;
    }
    return out;
}

} // namespace tempinbox::mime
