#include "html/look.hpp"

#include "common/core/text.hpp"
#include "html/elements.hpp"
#include "html/quantity.hpp"
#include "html/tags.hpp"

#include <array>
#include <optional>

namespace tempinbox::html {
namespace {

// The length from which text stands off the page; no layout moves text so far for another reason.
constexpr double far_away = 400;

bool is_at_most(std::string_view value, double max)
{
    const auto pixels = parse_pixels(value);
    return pixels && *pixels <= max;
}

bool is_far_away(std::string_view value)
{
    const auto length = parse_quantity(value);
    const auto pixels = length && length->unit == "%" ? length->number * 10 : parse_pixels(value);
    return pixels && *pixels <= -far_away;
}

bool is_transparent(std::string_view opacity)
{
    const auto share = parse_quantity(opacity);
    return share && share->number <= (share->unit == "%" ? 10 : 0.1);
}

// A cell with a width takes it, whatever its maximum: so texts are cut with an ellipsis.
bool has_no_room(std::string_view name, const declarations& css)
{
    const auto overflow = css.find(property::overflow), width = css.find(property::width);
    if (overflow != "hidden" && overflow != "clip")
        return false;
    const bool is_cell =
        name == "td" || name == "th" || css.find(property::display) == "table-cell";
    return is_at_most(css.find(property::height), 1) ||
           is_at_most(css.find(property::max_height), 1) || is_at_most(width, 1) ||
           (is_at_most(css.find(property::max_width), 1) && (!is_cell || width.empty()));
}

bool is_moved_away(const declarations& css)
{
    const auto position = css.find(property::position);
    const bool is_placed = position == "absolute" || position == "fixed" || position == "relative";
    const auto is_far = [&css](property name) { return is_far_away(css.find(name)); };
    return is_far(property::text_indent) || is_far(property::margin_left) ||
           is_far(property::margin_top) ||
           (is_placed && (is_far(property::left) || is_far(property::top) ||
                          is_far(property::right) || is_far(property::bottom)));
}

bool is_cut_away(const declarations& css)
{
    const auto clip = css.find(property::clip), path = css.find(property::clip_path),
               transform = css.find(property::transform);
    return (clip.starts_with("rect(") &&
            clip.find_first_of("23456789") == std::string_view::npos) ||
           path.starts_with("inset(50") || path.starts_with("inset(100") ||
           path.starts_with("circle(0") || transform.starts_with("scale(0");
}

bool makes_gone(std::string_view name, const declarations& css)
{
    return css.find(property::display) == "none" || css.find(property::mso_hide) == "all" ||
           css.find(property::content_visibility) == "hidden" ||
           is_transparent(css.find(property::opacity)) || has_no_room(name, css) ||
           is_moved_away(css) || is_cut_away(css);
}

bool is_undisplayed(std::string_view name, std::string_view tag, const declarations& css)
{
    return is_one_of(undisplayed_elements, name) ||
           (name == "dialog" && !find_attribute(tag, "open")) ||
           (css.find(property::display).empty() && find_attribute(tag, "hidden"));
}

// A share of a tiny one stays tiny. What is not a size changes nothing.
void set_font_size(std::string_view value, look& shown)
{
    constexpr double tiny = 2; // pixels
    constexpr std::array<std::string_view, 9> sizes{"xx-small", "x-small",   "small",
                                                    "medium",   "large",     "x-large",
                                                    "xx-large", "xxx-large", "initial"};
    const auto size = parse_quantity(value);
    if (size && size->number >= 0 && (size->unit == "em" || size->unit == "%")) {
        const double share = size->unit == "%" ? size->number / 100 : size->number;
        shown.is_tiny = shown.is_tiny || share < 0.1;
    } else if (const auto pixels = parse_pixels(value); pixels && *pixels >= 0) {
        shown.is_tiny = *pixels < tiny;
    } else if (is_one_of(sizes, value)) {
        shown.is_tiny = false;
    }
}

// `inherit` and what is not a value change nothing.
void set_visibility(std::string_view value, look& shown)
{
    if (value == "hidden" || value == "collapse")
        shown.is_hidden = true;
    else if (value == "visible" || value == "initial")
        shown.is_hidden = false;
}

// `0/0 serif`, `bold 12px/1.5 Arial`: what begins with a digit is the size.
std::string_view size_in_font(std::string_view font)
{
    const auto begin = font.find_first_of("0123456789.");
    if (begin == std::string_view::npos || (begin > 0 && font[begin - 1] != ' '))
        return {};
    return font.substr(begin, font.find_first_of(" /", begin) - begin);
}

// The next word, with what it has in brackets; moves `rest` past it.
std::string_view take_word(std::string_view& rest)
{
    rest = trim(rest);
    int depth = 0;
    std::size_t end = 0;
    for (; end < rest.size() && (depth > 0 || !is_space(rest[end])); ++end)
        depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    const auto word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
}

// The color in a shorthand; a picture hides what color is below, and what is a function but no
// color that is read may be either.
void set_background(std::string_view value, look& shown)
{
    constexpr int max_words = 16;
    bool has_unknown = false;
    for (int i = 0; i < max_words && !value.empty(); ++i) {
        const auto word = take_word(value);
        if (const auto named = parse_color(word); named && !named->is_transparent) {
            shown.background = *named;
            shown.is_background_known = true;
        } else if (!named && word.find('(') != std::string_view::npos) {
            has_unknown = true;
        }
    }
    shown.is_background_known = shown.is_background_known && !has_unknown;
}

// A word that is no color changes nothing, as in browsers.
void set_text_color(std::string_view value, look& shown)
{
    const auto named = value == "initial" ? color{} : parse_color(value);
    if (named)
        shown.text = *named;
    if (named || value.find('(') != std::string_view::npos)
        shown.is_text_known = named.has_value();
}

void set_colors(std::string_view tag, const declarations& css, look& shown)
{
    if (const auto attribute = find_attribute(tag, "bgcolor"))
        set_background(to_lower_ascii(*attribute), shown);
    if (const auto attribute = find_attribute(tag, "background"); attribute && !attribute->empty())
        shown.is_background_known = false;
    set_background(css.find(property::background), shown);
    set_background(css.find(property::background_color), shown);
    if (const auto picture = css.find(property::background_image);
        !picture.empty() && picture != "none")
        shown.is_background_known = false;
    if (const auto attribute = find_attribute(tag, "color"))
        set_text_color(*attribute, shown);
    set_text_color(css.find(property::color), shown);
}

} // namespace

bool look::is_seen() const
{
    return !is_gone && !is_hidden && !is_tiny && !(is_text_known && text.is_transparent) &&
           !(is_text_known && is_background_known && look_alike(text, background));
}

look look_in(const look& parent, std::string_view name, std::string_view tag,
             const declarations& css)
{
    auto shown = parent;
    shown.is_gone = shown.is_gone || makes_gone(name, css) || is_undisplayed(name, tag, css);
    set_visibility(css.find(property::visibility), shown);
    set_font_size(size_in_font(css.find(property::font)), shown);
    set_font_size(css.find(property::font_size), shown);
    set_colors(tag, css, shown);
    if (name == "img")
        shown.is_gone = shown.is_gone || is_at_most(css.find(property::width), 1) ||
                        is_at_most(css.find(property::height), 1);
    return shown;
}

} // namespace tempinbox::html
