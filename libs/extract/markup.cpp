#include "extract/markup.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tempinbox::extract {
namespace {

constexpr std::string_view hidden_elements[] = {"script", "style", "title", "template", "svg"};
constexpr std::string_view inline_elements[] = {"a",   "abbr", "b",     "bdi",  "bdo", "big",    "code",  "em",   "font",   "i",
                                                "img", "kbd",  "label", "mark", "o:p", "s",      "small", "span", "strong", "sub",
                                                "sup", "tt",   "u",     "var",  "wbr", "center", "ins",   "samp"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name)
{
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string tag_name(std::string_view tag)
{
    tag.remove_prefix(tag.starts_with("</") ? 2 : 1);
    const auto end =
        std::find_if(tag.begin(), tag.end(), [](char c) { return !is_letter(c) && !(c >= '0' && c <= '9') && c != ':'; });
    return to_lower_ascii(tag.substr(0, std::min<std::size_t>(static_cast<std::size_t>(end - tag.begin()), 16)));
}

// Past the end tag of an element that is not shown; the end of the text where it is never closed.
std::size_t closed_at(std::string_view html, std::size_t at, std::string_view name)
{
    for (auto close = html.find("</", at); close != std::string_view::npos; close = html.find("</", close + 2)) {
        if (!equals_ignoring_ascii_case(html.substr(close + 2, name.size()), name))
            continue;
        const auto end = html.find('>', close);
        return end == std::string_view::npos ? html.size() : end + 1;
    }
    return html.size();
}

std::string utf8(std::uint32_t point)
{
    std::string text;
    if (point < 0x80) {
        text.push_back(static_cast<char>(point));
    } else if (point < 0x800) {
        text.push_back(static_cast<char>(0xc0 | point >> 6));
        text.push_back(static_cast<char>(0x80 | (point & 0x3f)));
    } else {
        text.push_back(static_cast<char>(0xe0 | point >> 12));
        text.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
        text.push_back(static_cast<char>(0x80 | (point & 0x3f)));
    }
    return text;
}

// Only what matters next to codes; any other stays as it is written.
markup_step read_entity(std::string_view html)
{
    constexpr std::size_t longest = 10;
    markup_step step;
    const auto end = html.substr(0, longest).find(';');
    if (end == std::string_view::npos || end < 2)
        return step;
    const auto name = html.substr(1, end - 1);
    if (name.front() == '#') {
        const bool is_hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
        const auto digits = name.substr(is_hex ? 2 : 1);
        std::uint32_t point = 0;
        const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), point, is_hex ? 16 : 10);
        if (digits.empty() || error != std::errc{} || stop != digits.data() + digits.size() || point < 0x20 || point > 0xffff ||
            (point >= 0xd800 && point < 0xe000))
            return step;
        step.text = utf8(point);
    } else if (name == "nbsp" || name == "ensp" || name == "emsp" || name == "thinsp") {
        step.text = " ";
    } else if (name == "amp" || name == "quot" || name == "lt" || name == "gt") {
        step.text = name == "amp" ? "&" : name == "quot" ? "\"" : name == "lt" ? "<" : ">";
    } else if (name == "copy") {
        step.text = "©";
    } else if (name == "euro" || name == "pound" || name == "yen") {
        step.text = name == "euro" ? "€" : name == "pound" ? "£" : "¥";
    } else if (name.ends_with("acute") || name.ends_with("grave") || name.ends_with("uml") || name.ends_with("cedil") ||
               name.ends_with("tilde") || name.ends_with("circ")) {
        step.text = std::string(name.substr(0, 1)); // `c&oacute;digo` is found as `codigo`
    } else if (name != "zwnj" && name != "zwj" && name != "shy") {
        return step;
    }
    step.means = markup::entity;
    step.length = end + 1;
    return step;
}

markup_step read_tag(std::string_view html, std::size_t at)
{
    markup_step step;
    step.means = markup::nothing;
    if (html.substr(at, 4) == "<!--") {
        const auto close = html.find("-->", at + 4);
        step.length = (close == std::string_view::npos ? html.size() : close + 3) - at;
        return step;
    }
    const auto close = html.find('>', at);
    const auto end = close == std::string_view::npos ? html.size() : close + 1;
    step.length = end - at;
    const auto tag = html.substr(at, step.length);
    const auto name = tag_name(tag);
    const bool opens = tag.size() > 1 && tag[1] != '/' && !tag.ends_with("/>");
    if (opens && is_one_of(hidden_elements, name)) {
        step.length = closed_at(html, end, name) - at;
    } else if (name == "td" || name == "th") {
        step.means = markup::cell;
    } else if (!is_one_of(inline_elements, name)) {
        // A block of its own look in a row with others reads as one line.
        step.means = tag.find("inline-block") != std::string_view::npos ? markup::cell : markup::line_break;
    }
    return step;
}

} // namespace

markup_step read_markup(std::string_view html, std::size_t at)
{
    if (html[at] == '&')
        return read_entity(html.substr(at));
    const char next = at + 1 < html.size() ? html[at + 1] : ' ';
    if (html[at] == '<' && (is_letter(next) || next == '/' || next == '!' || next == '?'))
        return read_tag(html, at);
    return {};
}

} // namespace tempinbox::extract
