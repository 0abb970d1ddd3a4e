#include "html/visible_page.hpp"

#include "common/core/text.hpp"
#include "html/cascade.hpp"
#include "html/elements.hpp"
#include "html/invisible.hpp"
#include "html/link_host.hpp"
#include "html/link_marks.hpp"
#include "html/link_target.hpp"
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

// Steps of the budget, in about the shares that the work has of the time: that of this walk, and
// that of those who read what it leaves. A byte of text is one, that of a reference or of a `<`
// more.
constexpr std::size_t steps_of_tag = 25;
constexpr std::size_t steps_of_comment = 4;
constexpr std::size_t steps_of_reference = 12;
constexpr std::size_t steps_of_less_than = 3;
constexpr std::size_t steps_of_separator = 4; // of attributes, past the first bytes of a tag
constexpr std::size_t steps_of_link = 20;
constexpr std::size_t steps_of_resolving = 80; // a link by the page's base
constexpr std::size_t hidden_bytes_in_step = 4;
constexpr std::size_t unread_bytes_in_step = 8;
constexpr std::size_t data_bytes_in_step = 16;
// A tag's bytes are a step each up to here, where attributes are; the rest is data of an image.
constexpr std::size_t max_attribute_bytes = 512;

constexpr char unseen = '\0';

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
    std::size_t tag = 0;     // where it begins, in the HTML that is seen
    std::size_t begin = 0;   // where its words do
    std::size_t removed = 0; // before it
    bool has_words = false;
    bool has_picture = false;
    std::string alternative; // of the picture
};

// Walks over a page once and copies what is seen, as HTML. With marks, a marked host stands behind
// the words of each link, and the links are named.
class page_walk
{
public:
    page_walk(std::string_view html, std::size_t work, const link_marks* marks)
        : html_(html),
          marks_(marks),
          budget_(work)
    {}

    // Leaves the text to others.
    linked_page run()
    {
        seen().html.reserve(html_.size());
        cascade_.read_style_sheets(html_);
        open_page();
        while (at_ < html_.size() && !budget_.is_spent()) {
            if (is_markup_at(html_, at_))
                read_markup();
            else
                read_text();
        }
        seen().is_cut = budget_.is_spent();
        seen().steps = budget_.used();
        // Nobody knows whether a person sees what is left, so it counts as hidden.
        seen().removed += html_.size() - at_;
        // Browsers end what is open where the page ends.
        while (!open_.has_only_permanent())
            close_last();
        return std::move(found_);
    }

private:
    visible_page& seen() { return found_.page; }

    // A page has them whether or not its tags are written, and rules ask for them.
    void open_page()
    {
        open_.push_permanent({{}, cascade_.root()});
        open_.push_permanent(read_element("html", "<html>"));
        open_.push_permanent(read_element("body", "<body>"));
    }

    // Moves past the text that begins here, or so much of it that the budget is looked at in time.
    std::string_view take_text()
    {
        constexpr std::size_t max_bytes = 4'096;
        const auto rest = take_bytes(html_.substr(at_), max_bytes);
        auto end = rest.find('<', 1);
        while (end != std::string_view::npos && !is_markup_at(html_, at_ + end))
            end = rest.find('<', end + 1);
        const auto text = rest.substr(0, end);
        at_ += text.size();
        return text;
    }

    void read_text()
    {
        const auto text = take_text();
        if (!open_.last().style.shown().is_seen()) {
            budget_.take(1 + text.size() / hidden_bytes_in_step);
            seen().removed += count_shown(text);
            put_unseen(text);
            return;
        }
        budget_.take(steps_to_read(text));
        seen().html.append(text);
        if (link_ && count_shown(text) > 0)
            link_->has_words = true;
    }

    static std::size_t steps_to_read(std::string_view text)
    {
        const auto count = [text](char c) {
            return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
        };
        return text.size() + count('&') * steps_of_reference + count('<') * steps_of_less_than;
    }

    void put_unseen(std::string_view html) { seen().html.append(count_characters(html), unseen); }

    void read_markup()
    {
        const auto end = markup_end(html_, at_);
        const auto tag = html_.substr(at_, end - at_);
        const auto name = tag_name(tag);
        at_ = end;
        if (name.empty()) { // a comment
            budget_.take(steps_of_comment + tag.size() / unread_bytes_in_step);
            put_unseen(tag);
            return;
        }
        const auto attributes = tag.substr(0, max_attribute_bytes),
                   rest = tag.substr(attributes.size());
        budget_.take(steps_of_tag + attributes.size() + count_separators(attributes) +
                     rest.size() / data_bytes_in_step +
                     steps_of_separator * count_separators(rest));
        if (tag.size() > 1 && tag[1] == '/') {
            close(name);
            seen().html.append(tag);
        } else if (is_skipped(name, tag)) {
            at_ = element_end(html_, end, name);
            budget_.take((at_ - end) / unread_bytes_in_step);
            put_unseen(html_.substr(end - tag.size(), at_ - end + tag.size()));
        } else {
            read_opening(name, tag);
        }
    }

    void read_opening(const std::string& name, std::string_view tag)
    {
        end_before(name);
        auto element = read_element(name, tag);
        if (budget_.is_spent()) // not all rules were tried
            return;
        if (name == "base" && base_.empty())
            base_ = find_href(tag);
        const bool is_picture = name == "area" || (name == "img" && link_);
        if (is_picture && !is_picture_seen(tag, element.style.shown())) {
            put_unseen(tag);
            return;
        }
        if (name == "a")
            begin_link(tag);
        seen().html.append(tag);
        if (link_ && name == "a")
            link_->begin = seen().html.size();
        if (name == "img" && link_)
            add_picture(tag);
        else if (name == "area")
            add_seen(link_target(tag, base_), on_one_line(find_attribute(tag, "alt").value_or("")),
                     0);
        if (!is_one_of(void_elements, name))
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
        budget_.take(steps_of_link + (base_.empty() ? 0 : steps_of_resolving));
        open_link link;
        if (marks_ != nullptr)
            link.url = link_target(tag, base_);
        link.tag = seen().html.size();
        link.removed = seen().removed;
        link_ = std::move(link);
    }

    void end_link()
    {
        const auto link = *std::exchange(link_, std::nullopt);
        if (!link.has_words && !link.has_picture) {
            // An element that means nothing stands in its place, since its length must stay.
            seen().html[link.tag + 1] = 'b';
            return;
        }
        if (marks_ == nullptr)
            return;
        auto words = link.has_words
                         ? on_one_line(whole_text(std::string_view(seen().html).substr(link.begin)))
                         : std::string();
        if (words.empty())
            words = on_one_line(link.alternative);
        add_seen(link.url, std::move(words), seen().removed - link.removed);
        const auto host = link.has_words ? link_host(link.url) : std::string();
        if (!host.empty())
            seen().html.append(" ").append(marks_->mark(host));
    }

    // A dot of one pixel tells a sender that the mail was read, and is seen by nobody.
    static bool is_picture_seen(std::string_view tag, const look& shown)
    {
        const auto is_dot = [tag](const char* side) {
            const auto size = find_attribute(tag, side);
            return size && (trim(*size) == "0" || trim(*size) == "1");
        };
        return shown.takes_room() && !is_dot("width") && !is_dot("height");
    }

    void add_picture(std::string_view tag)
    {
        link_->has_picture = true;
        if (link_->alternative.empty())
            link_->alternative = find_attribute(tag, "alt").value_or("");
    }

    void add_seen(std::string url, std::string text, std::size_t removed)
    {
        if (marks_ == nullptr)
            return;
        auto& link = found_.links[std::move(url)];
        if (link.text.empty())
            link = {std::move(text), removed};
    }

    std::string_view html_;
    const link_marks* marks_;
    std::size_t at_ = 0;
    work_budget budget_;
    cascade cascade_{budget_};
    open_elements open_;
    std::optional<open_link> link_;
    std::string base_; // that links are relative to, if the page names one
    linked_page found_;
};

} // namespace

visible_page read_visible_page(std::string_view html, std::size_t work)
{
    auto page = page_walk(html, work, nullptr).run().page;
    page.text = whole_text(page.html);
    page.shows_text = has_glyph(page.text);
    return page;
}

linked_page read_linked_page(std::string_view html)
{
    const link_marks marks;
    auto found = page_walk(html, max_page_steps, &marks).run();
    auto& page = found.page;
    const auto text = remove_invisible(whole_text(page.html));
    page.text = marks.name_hosts(trim(text.text));
    page.shows_text = !page.text.empty();
    page.removed += text.removed;
    return found;
}

} // namespace tempinbox::html
