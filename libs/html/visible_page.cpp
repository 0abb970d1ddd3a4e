#include "html/visible_page.hpp"

#include "common/core/encoding.hpp"
#include "common/core/ids.hpp"
#include "common/core/text.hpp"
#include "html/elements.hpp"
#include "html/invisible.hpp"
#include "html/link_host.hpp"
#include "html/style_memory.hpp"
#include "html/style_sheet.hpp"
#include "html/tags.hpp"
#include "html/text.hpp"
#include "html/work_budget.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::html {
namespace {

// The length from which text stands off the page; no layout moves text so far for another reason.
constexpr double far_away = 400;
constexpr std::size_t max_style_bytes = 256 * 1024;

constexpr std::string_view left = "\u27e8", right = "\u27e9"; // mathematical angle brackets
constexpr std::size_t nonce_bytes = 8;

// Steps of the budget, in about the shares that the work has of the time.
constexpr std::size_t steps_of_tag = 8;
constexpr std::size_t steps_of_style = 50; // that is not remembered
constexpr std::size_t steps_of_link = 100;

constexpr std::array<std::string_view, 14> void_elements{
    "area",  "base", "br",   "col",   "embed",  "hr",    "img",
    "input", "link", "meta", "param", "source", "track", "wbr"};
// An element of these ends where the next of its name begins.
constexpr std::array<std::string_view, 8> self_ending{"p",  "li", "td", "th",
                                                      "tr", "dt", "dd", "option"};
// How the text in an element looks.
struct look
{
    bool is_gone = false;   // no element in it can be seen
    bool is_hidden = false; // visibility: an element in it can say otherwise
    bool is_tiny = false;   // font-size: likewise
    color text{0, 0, 0};
    bool is_text_known = true; // not in every notation
    color background{255, 255, 255};
    bool is_background_known = true; // a picture may have any color

    bool is_seen() const
    {
        return !is_gone && !is_hidden && !is_tiny && !(is_text_known && text.is_transparent) &&
               !(is_text_known && is_background_known && look_alike(text, background));
    }
    // Of a picture.
    bool takes_room() const { return !is_gone && !is_hidden; }
    bool operator==(const look&) const = default;
};

struct element_style
{
    look shown;
    met_steps met;

    bool operator==(const element_style&) const = default;
};

struct element_style_hash
{
    std::size_t operator()(const element_style& one) const
    {
        const std::hash<std::bitset<max_steps>> hash_of;
        const auto& [is_gone, is_hidden, is_tiny, text, is_text_known, background,
                     is_background_known] = one.shown;
        auto hash = hash_of(one.met.all);
        const auto add = [&hash](std::size_t value) { hash = hash * 1'000'003 + value; };
        add(hash_of(one.met.own));
        for (const auto& each : {text, background})
            for (const std::size_t part :
                 {std::size_t{each.red}, std::size_t{each.green}, std::size_t{each.blue},
                  std::size_t{each.is_transparent}})
                add(part);
        for (const bool part : {is_gone, is_hidden, is_tiny, is_text_known, is_background_known})
            add(part ? 1 : 0);
        return hash;
    }
};
using element_styles = style_memory<element_style, element_style_hash>;

struct open_element
{
    std::string name;
    element_style style;
    std::size_t number = element_styles::none; // of the style
};

// Links never stand in one another.
struct open_link
{
    std::string url;
    std::string host;
    std::size_t begin = 0;   // in the text that is seen
    std::size_t removed = 0; // before it
    bool has_words = false;
    bool has_picture = false;
    std::string alternative; // of the picture
};

// About as many pixels; absent for a share of something else and for what is no length: of numbers
// without a unit, zero alone is one.
std::optional<double> parse_pixels(std::string_view text)
{
    struct unit_size
    {
        std::string_view unit;
        double pixels;
    };
    constexpr unit_size units[] = {{"px", 1},    {"pt", 4.0 / 3}, {"pc", 16},   {"in", 96},
                                   {"cm", 37.8}, {"mm", 3.78},    {"q", 0.945}, {"em", 16},
                                   {"rem", 16},  {"ex", 8},       {"ch", 8},    {"vw", 6},
                                   {"vh", 6},    {"vmin", 6},     {"vmax", 6}};
    const auto read = parse_quantity(text);
    if (!read)
        return std::nullopt;
    if (read->unit.empty() && read->number == 0)
        return 0;
    for (const auto& one : units)
        if (read->unit == one.unit)
            return read->number * one.pixels;
    return std::nullopt;
}

bool is_at_most(std::string_view value, double max)
{
    const auto pixels = parse_pixels(value);
    return pixels && *pixels <= max;
}

bool is_far_away(std::string_view value)
{
    const auto read = parse_quantity(value);
    const auto pixels = read && read->unit == "%" ? read->number * 10 : parse_pixels(value);
    return pixels && *pixels <= -far_away;
}

bool is_transparent(std::string_view opacity)
{
    const auto read = parse_quantity(opacity);
    return read && read->number <= (read->unit == "%" ? 10 : 0.1);
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
    constexpr std::array<std::string_view, 9> words{"xx-small", "x-small",   "small",
                                                    "medium",   "large",     "x-large",
                                                    "xx-large", "xxx-large", "initial"};
    const auto read = parse_quantity(value);
    if (read && read->number >= 0 && (read->unit == "em" || read->unit == "%")) {
        const double share = read->unit == "%" ? read->number / 100 : read->number;
        shown.is_tiny = shown.is_tiny || share < 0.1;
    } else if (const auto pixels = parse_pixels(value); pixels && *pixels >= 0) {
        shown.is_tiny = *pixels < tiny;
    } else if (is_one_of(words, value)) {
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
        if (const auto read = parse_color(word); read && !read->is_transparent) {
            shown.background = *read;
            shown.is_background_known = true;
        } else if (!read && word.find('(') != std::string_view::npos) {
            has_unknown = true;
        }
    }
    shown.is_background_known = shown.is_background_known && !has_unknown;
}

// A word that is no color changes nothing, as in browsers.
void set_text_color(std::string_view value, look& shown)
{
    const auto read = value == "initial" ? color{} : parse_color(value);
    if (read)
        shown.text = *read;
    if (read || value.find('(') != std::string_view::npos)
        shown.is_text_known = read.has_value();
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

// Whether its content is no text in any program, so that leaving it out is not worth counting. A
// slash at the end of a tag means nothing in HTML, only in SVG.
bool is_skipped(std::string_view name, std::string_view tag)
{
    return is_one_of(fallback_elements, name) ||
           (is_one_of(textless_elements, name) && (name != "svg" || is_opening(tag)));
}

// Counts what a reader would have had to read: characters but blanks.
std::size_t count_shown(std::string_view html_text)
{
    std::size_t count = 0;
    for (const char c : html_text)
        if (!is_space(c) && (static_cast<unsigned char>(c) & 0xc0U) != 0x80U)
            ++count;
    return count;
}

std::string on_one_line(std::string_view text)
{
    constexpr std::size_t max_characters = 200;
    const auto visible = remove_invisible(text).text;
    std::string line;
    for (const char c : trim(visible))
        if (!is_space(c))
            line += c;
        else if (!line.ends_with(' '))
            line += ' ';
    return std::string(take_characters(line, max_characters));
}

std::string words_of(std::string_view html)
{
    return on_one_line(to_text(html, 2 * html.size()));
}

std::string make_host_mark()
{
    std::array<std::uint8_t, nonce_bytes> nonce{};
    fill_with_random(nonce);
    return to_hex({reinterpret_cast<const char*>(nonce.data()), nonce.size()});
}

class html_filter
{
public:
    explicit html_filter(std::string_view html) : html_(html) {}

    // What stands before the host of a link in the text; no mail knows it.
    const std::string& host_mark() const { return host_mark_; }

    // Its text is HTML that holds what is seen; browsers end what is open where the page ends.
    visible_page run()
    {
        read_style_sheets();
        open_page();
        while (at_ < html_.size() && !budget_.is_spent()) {
            if (is_markup_at(html_, at_))
                read_markup();
            else
                read_text();
        }
        seen_.is_cut = budget_.is_spent();
        seen_.steps = budget_.used();
        count_rest();
        while (open_.size() > page_elements)
            close_last();
        return std::move(seen_);
    }

private:
    static constexpr std::size_t page_elements = 3;

    // A page has them whether or not its tags are written, and rules ask for them.
    void open_page()
    {
        open_element page;
        page.number = styles_.add(element_styles::none, {}, page.style);
        open_.push_back(std::move(page));
        open_.push_back(read_element("html", "<html>"));
        open_.push_back(read_element("body", "<body>"));
    }

    // A rule may stand behind what it hides.
    void read_style_sheets()
    {
        std::size_t read = 0;
        for (std::size_t at = html_.find('<'); at != std::string_view::npos && at < html_.size();
             at = html_.find('<', at)) {
            if (!is_markup_at(html_, at)) {
                ++at;
                continue;
            }
            const auto end = markup_end(html_, at);
            const auto tag = html_.substr(at, end - at);
            at = end;
            if (tag_name(tag) != "style" || tag.starts_with("</"))
                continue;
            at = element_end(html_, end, "style");
            const auto content = html_.substr(end, at - end);
            if (read + content.size() <= max_style_bytes)
                sheet_.add(content.substr(0, content.rfind("</")));
            read += content.size();
        }
    }

    // Moves past the text that begins here.
    std::string_view take_text()
    {
        auto end = html_.find('<', at_ + 1);
        while (end != std::string_view::npos && !is_markup_at(html_, end))
            end = html_.find('<', end + 1);
        const auto text = html_.substr(at_, std::min(end, html_.size()) - at_);
        at_ += text.size();
        return text;
    }

    // Nobody knows whether a person sees it, so it counts as hidden.
    void count_rest()
    {
        while (at_ < html_.size()) {
            if (is_markup_at(html_, at_))
                at_ = markup_end(html_, at_);
            else
                seen_.removed += count_shown(take_text());
        }
    }

    void read_text()
    {
        const auto text = take_text();
        if (!open_.back().style.shown.is_seen()) {
            seen_.removed += count_shown(text);
            return;
        }
        // What is left out between two pieces must not join them into markup.
        seen_.text.append(replace_all(text, "<", "&lt;"));
        if (link_ && count_shown(text) > 0)
            link_->has_words = true;
    }

    void read_markup()
    {
        const auto end = markup_end(html_, at_);
        const auto tag = html_.substr(at_, end - at_);
        const auto name = tag_name(tag);
        at_ = end;
        budget_.take(steps_of_tag);
        if (name.empty()) // a comment
            return;
        if (tag.size() > 1 && tag[1] == '/') {
            close(name);
            seen_.text.append("</").append(name).append(">");
            return;
        }
        if (is_skipped(name, tag)) {
            at_ = element_end(html_, end, name);
            return;
        }
        if (is_one_of(self_ending, name) && open_.back().name == name)
            close_last();
        if (name == "tr" && open_.back().name == "table")
            open(read_element("tbody", "<tbody>")); // as browsers do
        if (name == "a")
            end_link_before();
        seen_.text.append("<").append(name).append(">");
        auto element = read_element(name, tag);
        if (budget_.is_spent()) // not all rules were tried
            return;
        if (name == "img" && link_)
            add_picture(tag, element.style.shown);
        else if (name == "area")
            add_area(tag, element.style.shown);
        if (is_one_of(void_elements, name))
            return;
        if (name == "a")
            begin_link(tag);
        open(std::move(element));
    }

    void open(open_element element)
    {
        ++open_names_[element.name];
        open_.push_back(std::move(element));
    }

    // What a tag opens in what is open.
    open_element read_element(const std::string& name, std::string_view tag)
    {
        const auto& parent = open_.back();
        if (const auto held = styles_.find(parent.number, tag); held != element_styles::none)
            return {name, styles_[held], held};
        const auto style = read_style(name, tag, parent.style);
        return {name, style, styles_.add(parent.number, tag, style)};
    }

    element_style read_style(const std::string& name, std::string_view tag,
                             const element_style& parent)
    {
        budget_.take(steps_of_style);
        auto [css, met] = sheet_.find(name, find_attribute(tag, "id").value_or(""),
                                      find_attribute(tag, "class").value_or(""), parent.met);
        const auto style = normalize_css(find_attribute(tag, "style").value_or(""));
        css.apply(declarations::parse(style));
        auto shown = parent.shown;
        shown.is_gone = shown.is_gone || makes_gone(name, css) || is_undisplayed(name, tag, css);
        set_visibility(css.find(property::visibility), shown);
        set_font_size(size_in_font(css.find(property::font)), shown);
        set_font_size(css.find(property::font_size), shown);
        set_colors(tag, css, shown);
        if (name == "img")
            shown.is_gone = shown.is_gone || is_at_most(css.find(property::width), 1) ||
                            is_at_most(css.find(property::height), 1);
        return {shown, met};
    }

    void begin_link(std::string_view tag)
    {
        budget_.take(steps_of_link);
        open_link link;
        link.url = find_href(tag);
        link.host = link_host(link.url);
        link.begin = seen_.text.size();
        link.removed = seen_.removed;
        link_ = std::move(link);
    }

    void add_picture(std::string_view tag, const look& shown)
    {
        const auto is_dot = [tag](const char* side) {
            const auto size = find_attribute(tag, side);
            return size && (trim(*size) == "0" || trim(*size) == "1");
        };
        if (!shown.takes_room() || is_dot("width") || is_dot("height"))
            return;
        link_->has_picture = true;
        if (link_->alternative.empty())
            link_->alternative = find_attribute(tag, "alt").value_or("");
    }

    // Of an image map.
    void add_area(std::string_view tag, const look& shown)
    {
        if (shown.takes_room())
            add_seen(find_href(tag), on_one_line(find_attribute(tag, "alt").value_or("")), 0);
    }

    void add_seen(std::string url, std::string text, std::size_t removed)
    {
        auto& held = seen_.links[std::move(url)];
        if (held.text.empty())
            held = {std::move(text), removed};
    }

    void end_link()
    {
        const auto link = *std::exchange(link_, std::nullopt);
        if (!link.has_words && !link.has_picture)
            return;
        auto words = link.has_words ? words_of(std::string_view(seen_.text).substr(link.begin))
                                    : std::string();
        if (words.empty())
            words = on_one_line(link.alternative);
        add_seen(link.url, std::move(words), seen_.removed - link.removed);
        if (link.has_words && !link.host.empty())
            seen_.text.append(" ").append(host_mark_).append(link.host).append(host_mark_);
    }

    // A link in a link ends the first, and what else is open stays open (HTML 13.2.6.4.7).
    void end_link_before()
    {
        if (!link_)
            return;
        end_link();
        const auto last = std::find_if(open_.rbegin(), open_.rend(),
                                       [](const auto& each) { return each.name == "a"; });
        open_.erase(std::next(last).base());
        --open_names_["a"];
    }

    // An end tag ends what is open within its element; one that ends nothing is ignored.
    void close(const std::string& name)
    {
        const auto count = open_names_.find(name);
        if (count == open_names_.end())
            return;
        while (count->second > 0)
            if (close_last() == name)
                return;
    }

    std::string close_last()
    {
        auto name = std::move(open_.back().name);
        open_.pop_back();
        --open_names_[name];
        if (name == "a")
            end_link();
        return name;
    }

    std::string_view html_;
    std::size_t at_ = 0;
    work_budget budget_{max_page_steps};
    style_sheet sheet_{budget_};
    element_styles styles_;
    std::vector<open_element> open_;
    std::map<std::string, std::size_t> open_names_; // how many of each
    std::optional<open_link> link_;
    visible_page seen_;
    const std::string host_mark_ = make_host_mark();
};

// `⟨link: HOST⟩` for what stands between two marks.
std::string name_hosts(std::string_view text, std::string_view mark)
{
    std::string named;
    bool is_host = false;
    for (;; is_host = !is_host) {
        const auto at = text.find(mark);
        named.append(text.substr(0, at));
        if (at == std::string_view::npos)
            return named;
        if (is_host)
            named.append(right);
        else
            named.append(left).append("link: ");
        text.remove_prefix(at + mark.size());
    }
}

} // namespace

visible_page read_visible_page(std::string_view html)
{
    html_filter filter(html);
    auto seen = filter.run();
    // A character reference may be twice as long in UTF-8.
    auto text = remove_invisible(to_text(seen.text, 2 * seen.text.size()));
    // In this order: character references have become brackets by now.
    seen.text = name_hosts(without_link_marks(trim(text.text)), filter.host_mark());
    seen.removed += text.removed;
    return seen;
}

std::string without_link_marks(std::string_view text)
{
    return replace_all(replace_all(text, left, "<"), right, ">");
}

} // namespace tempinbox::html
