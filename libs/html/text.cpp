#include "html/text.hpp"

#include "common/core/text.hpp"
#include "html/elements.hpp"
#include "html/references.hpp"
#include "html/tags.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::html {
namespace {

// Begin and end on a line of their own.
constexpr std::array<std::string_view, 31> breaking_elements{
    "address", "article", "aside",    "blockquote", "br",    "center", "dd",   "div",
    "dl",      "dt",      "fieldset", "footer",     "form",  "h1",     "h2",   "h3",
    "h4",      "h5",      "h6",       "header",     "hr",    "li",     "main", "nav",
    "ol",      "p",       "pre",      "section",    "table", "tr",     "ul"};
constexpr std::array<std::string_view, 2> preformatted_elements{"pre", "textarea"};
constexpr std::string_view word_ends("<& \t\r\n\f\0", 8);

// Collapses blanks, and allows at most one empty line in a row.
class text_flow
{
public:
    explicit text_flow(std::size_t limit) : limit_(limit) {}

    bool is_full() const { return text_.size() >= limit_; }
    void blank() { wants_blank_ = !text_.empty(); }
    void line_break() { ++wants_breaks_; }
    // In preformatted text each blank and each line break counts.
    void preformatted_space(char c)
    {
        if (c != '\n') {
            preformatted_blanks_.push_back(c);
            return;
        }
        ++preformatted_breaks_;
        preformatted_blanks_.clear();
    }
    void put(std::string_view piece)
    {
        if (piece.empty())
            return;
        const std::size_t breaks = wants_breaks_ > 2 ? 2 : wants_breaks_ > 0 ? 1 : 0;
        if (!text_.empty())
            text_.append(std::max(breaks, preformatted_breaks_), '\n');
        if (!preformatted_blanks_.empty())
            text_.append(preformatted_blanks_);
        else if (wants_blank_ && !text_.empty() && text_.back() != '\n')
            text_.push_back(' ');
        wants_breaks_ = 0;
        preformatted_breaks_ = 0;
        preformatted_blanks_.clear();
        wants_blank_ = false;
        text_.append(piece);
    }
    std::string take()
    {
        text_.resize(take_bytes(text_, limit_).size());
        return std::move(text_);
    }

private:
    std::size_t limit_;
    std::string text_;
    bool wants_blank_ = false;
    int wants_breaks_ = 0;
    std::size_t preformatted_breaks_ = 0;
    std::string preformatted_blanks_;
};

class text_reader
{
public:
    text_reader(std::string_view html, std::size_t limit) : html_(html), flow_(limit) {}

    std::string read()
    {
        while (at_ < html_.size() && !flow_.is_full()) {
            if (is_markup_at(html_, at_))
                read_markup();
            else if (is_space(html_[at_]))
                read_space();
            else if (html_[at_] == '&')
                read_reference();
            else if (html_[at_] == '\0') // browsers ignore it (HTML 13.2.6.4.7)
                at_ = std::min(html_.find_first_not_of('\0', at_), html_.size());
            else
                read_words();
        }
        return flow_.take();
    }

private:
    void read_markup()
    {
        const auto end = markup_end(html_, at_);
        const auto tag = html_.substr(at_, end - at_);
        const auto name = tag_name(tag);
        const bool opens = is_opening(tag);
        at_ = opens && is_one_of(textless_elements, name) ? element_end(html_, end, name) : end;
        if (is_one_of(breaking_elements, name)) {
            flow_.line_break();
            if (name == "p" || name == "table" ||
                (name.size() == 2 && name[0] == 'h' && name != "hr"))
                flow_.line_break();
        } else if (name == "td" || name == "th") {
            flow_.blank();
        }
        if (is_one_of(preformatted_elements, name)) {
            is_preformatted_ = opens;
            // HTML 13.2.6.4.7: a line break directly after the tag is not shown.
            for (const char c : {'\r', '\n'})
                at_ += opens && at_ < html_.size() && html_[at_] == c ? 1 : 0;
        }
    }

    void read_space()
    {
        const char c = html_[at_++];
        if (!is_preformatted_)
            flow_.blank();
        else if (c != '\r')
            flow_.preformatted_space(c);
    }

    void read_reference()
    {
        const auto reference = read_character_reference(html_.substr(at_), reference_context::text);
        const auto text = reference.length > 0 ? as_shown(reference) : "&";
        at_ += std::max<std::size_t>(reference.length, 1);
        if (text != " ")
            flow_.put(text);
        else if (is_preformatted_)
            flow_.preformatted_space(reference.text.front() == '\n' ? '\n' : ' ');
        else
            flow_.blank();
    }

    void read_words()
    {
        const auto end = std::min(html_.find_first_of(word_ends, at_ + 1), html_.size());
        flow_.put(html_.substr(at_, end - at_));
        at_ = end;
    }

    std::string_view html_;
    text_flow flow_;
    std::size_t at_ = 0;
    bool is_preformatted_ = false;
};

} // namespace

std::string to_text(std::string_view html, std::size_t limit)
{
    return text_reader(html, limit).read();
}

} // namespace tempinbox::html
