#include "html/visible_page.hpp"

#include "common/core/text.hpp"
#include "html/cascade.hpp"
#include "html/elements.hpp"
#include "html/invisible.hpp"
#include "html/link_host.hpp"
#include "html/link_marks.hpp"
#include "html/open_elements.hpp"
#include "html/tags.hpp"
#include "html/text.hpp"
#include "html/work_budget.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tempinbox::html {
namespace {

// Steps of the budget, in about the shares that the work has of the time.
constexpr std::size_t steps_of_tag = 8;
constexpr std::size_t steps_of_link = 100;

constexpr std::array<std::string_view, 14> void_elements{
    "area",  "base", "br",   "col",   "embed",  "hr",    "img",
    "input", "link", "meta", "param", "source", "track", "wbr"};
// An element of these ends where the next of its name begins.
constexpr std::array<std::string_view, 8> self_ending{"p",  "li", "td", "th",
                                                      "tr", "dt", "dd", "option"};

// Whether its content is no text in any program, so that leaving it out is not worth counting. A
// slash at the end of a tag means nothing in HTML, only in SVG.
bool is_skipped(std::string_view name, std::string_view tag)
{
    return is_one_of(fallback_elements, name) ||
           (is_one_of(textless_elements, name) && (name != "svg" || is_opening(tag)));
}

// Counts what a reader would have had to read: characters but blanks.
std::size_t count_shown(std::string_view text)
{
    std::size_t count = 0;
    for (const char c : text)
        if (!is_space(c) && (static_cast<unsigned char>(c) & 0xc0U) != 0x80U)
            ++count;
    return count;
}

std::string on_one_line(std::string_view text)
{
    constexpr std::size_t max_characters = 200;
    const auto seen = remove_invisible(text).text;
    std::string line;
    for (const char c : trim(seen))
        if (!is_space(c))
            line += c;
        else if (!line.ends_with(' '))
            line += ' ';
    return std::string(take_characters(line, max_characters));
}

// A character reference may be twice as long in UTF-8.
std::string whole_text(std::string_view html)
{
    return to_text(html, 2 * html.size());
}

// Links never stand in one another.
struct open_link
{
    std::string url;
    std::string host;
    std::size_t begin = 0;   // in the HTML that is seen
    std::size_t removed = 0; // before it
    bool has_words = false;
    bool has_picture = false;
    std::string alternative; // of the picture
};

// Walks over a page once and copies what is seen, as HTML: the names of the tags, for their layout,
// and the text that stands in visible elements, with the marked host behind the words of each link.
class page_walk
{
public:
    page_walk(std::string_view html, const link_marks& marks) : html_(html), marks_(marks) {}

    // Its text is that HTML.
    visible_page run()
    {
        cascade_.read_style_sheets(html_);
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
        // Browsers end what is open where the page ends.
        while (!open_.has_only_permanent())
            close_last();
        return std::move(seen_);
    }

private:
    // A page has them whether or not its tags are written, and rules ask for them.
    void open_page()
    {
        open_.push_permanent({{}, cascade_.root()});
        open_.push_permanent(read_element("html", "<html>"));
        open_.push_permanent(read_element("body", "<body>"));
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

    void read_text()
    {
        const auto text = take_text();
        if (!open_.last().style.shown().is_seen()) {
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
        } else if (is_skipped(name, tag)) {
            at_ = element_end(html_, end, name);
        } else {
            read_opening(name, tag);
        }
    }

    void read_opening(const std::string& name, std::string_view tag)
    {
        end_before(name);
        seen_.text.append("<").append(name).append(">");
        auto element = read_element(name, tag);
        if (budget_.is_spent()) // not all rules were tried
            return;
        if (name == "img" && link_)
            add_picture(tag, element.style.shown());
        else if (name == "area")
            add_area(tag, element.style.shown());
        if (is_one_of(void_elements, name))
            return;
        if (name == "a")
            begin_link(tag);
        open_.push(std::move(element));
    }

    // What an element of that name ends or opens by being there, as browsers have it.
    void end_before(const std::string& name)
    {
        if (is_one_of(self_ending, name) && open_.last().name == name)
            close_last();
        if (name == "tr" && open_.last().name == "table")
            open_.push(read_element("tbody", "<tbody>"));
        // A link in a link ends the first, and what else is open stays open (HTML 13.2.6.4.7).
        if (name == "a" && link_) {
            end_link();
            open_.erase_last("a");
        }
    }

    open_element read_element(const std::string& name, std::string_view tag)
    {
        return {name, cascade_.style_in(open_.last().style, name, tag)};
    }

    // An end tag ends what is open within its element; one that ends nothing is ignored.
    void close(const std::string& name)
    {
        while (open_.contains(name))
            if (close_last() == name)
                return;
    }

    std::string close_last()
    {
        auto name = open_.pop();
        if (name == "a")
            end_link();
        return name;
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

    void end_link()
    {
        const auto link = *std::exchange(link_, std::nullopt);
        if (!link.has_words && !link.has_picture)
            return;
        auto words = link.has_words
                         ? on_one_line(whole_text(std::string_view(seen_.text).substr(link.begin)))
                         : std::string();
        if (words.empty())
            words = on_one_line(link.alternative);
        add_seen(link.url, std::move(words), seen_.removed - link.removed);
        if (link.has_words && !link.host.empty())
            seen_.text.append(" ").append(marks_.mark(link.host));
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
        auto& link = seen_.links[std::move(url)];
        if (link.text.empty())
            link = {std::move(text), removed};
    }

    std::string_view html_;
    const link_marks& marks_;
    std::size_t at_ = 0;
    work_budget budget_{max_page_steps};
    cascade cascade_{budget_};
    open_elements open_;
    std::optional<open_link> link_;
    visible_page seen_;
};

} // namespace

visible_page read_visible_page(std::string_view html)
{
    const link_marks marks;
    auto page = page_walk(html, marks).run();
    const auto text = remove_invisible(whole_text(page.text));
    page.text = marks.name_hosts(trim(text.text));
    page.removed += text.removed;
    return page;
}

} // namespace tempinbox::html
