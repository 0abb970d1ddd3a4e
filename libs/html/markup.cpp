#include "html/markup.hpp"

#include "html/elements.hpp"
#include "html/references.hpp"
#include "html/tags.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::html {
namespace {

// Stand within a line.
constexpr std::array<std::string_view, 36> inline_elements{
    "a",      "abbr",    "b",    "bdi",   "bdo",  "big",  "code", "em",     "font",
    "i",      "img",     "kbd",  "label", "mark", "o:p",  "s",    "small",  "span",
    "strong", "sub",     "sup",  "tt",    "u",    "var",  "wbr",  "center", "ins",
    "samp",   "acronym", "cite", "del",   "dfn",  "nobr", "q",    "strike", "time"};

markup_step read_reference(std::string_view html)
{
    const auto reference = read_character_reference(html, reference_context::text);
    if (reference.length == 0)
        return {};
    return {markup::entity, reference.length, as_shown(reference)};
}

markup_step read_tag(std::string_view html, std::size_t at)
{
    markup_step step;
    step.means = markup::nothing;
    const auto end = markup_end(html, at);
    step.length = end - at;
    const auto tag = html.substr(at, step.length);
    const auto name = tag_name(tag);
    if (is_opening(tag) && is_one_of(textless_elements, name)) {
        step.length = element_end(html, end, name) - at;
    } else if (name == "td" || name == "th") {
        step.means = markup::cell;
    } else if (!name.empty() && !is_one_of(inline_elements, name)) {
        // An inline-block element stands in a row with others and reads as one line.
        step.means =
            tag.find("inline-block") != std::string_view::npos ? markup::cell : markup::line_break;
    }
    return step;
}

} // namespace

markup_step read_markup(std::string_view html, std::size_t at)
{
    if (html[at] == '\0') {
        const auto end = std::min(html.find_first_not_of('\0', at), html.size());
        return {markup::nothing, end - at, {}};
    }
    if (html[at] == '&')
        return read_reference(html.substr(at));
    return is_markup_at(html, at) ? read_tag(html, at) : markup_step{};
}

} // namespace tempinbox::html
