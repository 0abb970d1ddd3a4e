#include "extract/markup.hpp"

#include "common/core/html_entities.hpp"
#include "common/core/html_tags.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::string_view hidden_elements[] = {"script", "style", "title", "template", "svg"};
constexpr std::string_view inline_elements[] = {
    "a",      "abbr",    "b",    "bdi",   "bdo",  "big",  "code", "em",     "font",
    "i",      "img",     "kbd",  "label", "mark", "o:p",  "s",    "small",  "span",
    "strong", "sub",     "sup",  "tt",    "u",    "var",  "wbr",  "center", "ins",
    "samp",   "acronym", "cite", "del",   "dfn",  "nobr", "q",    "strike", "time"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name)
{
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

markup_step read_reference(std::string_view html)
{
    const auto reference = read_character_reference(html, html_context::text);
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
    if (is_opening(tag) && is_one_of(hidden_elements, name)) {
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
    if (html[at] == '&')
        return read_reference(html.substr(at));
    return is_markup_at(html, at) ? read_tag(html, at) : markup_step{};
}

} // namespace tempinbox::extract
