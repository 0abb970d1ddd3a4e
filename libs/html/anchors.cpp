#include "html/anchors.hpp"

#include "html/link_target.hpp"
#include "html/markup.hpp"
#include "html/tags.hpp"

#include <algorithm>

namespace tempinbox::html {
namespace {

bool begins_step(char c)
{
    return c == '<' || c == '&' || c == '\0';
}

} // namespace

anchored_text::anchored_text(std::string_view html)
{
    for (std::size_t at = 0; at < html.size();)
        at += begins_step(html[at]) ? read_step(html, at) : read_words(html.substr(at));
    close_anchor();
}

std::string_view anchored_text::inside(std::size_t i) const
{
    return between(anchors_[i].begin, anchors_[i].end);
}

std::string_view anchored_text::before(std::size_t i) const
{
    return between(i == 0 ? 0 : anchors_[i - 1].end, anchors_[i].begin);
}

std::string_view anchored_text::after(std::size_t i) const
{
    return between(anchors_[i].end,
                   i + 1 == anchors_.size() ? text_.size() : anchors_[i + 1].begin);
}

std::string_view anchored_text::between(std::size_t begin, std::size_t end) const
{
    return std::string_view(text_).substr(begin, end - begin);
}

std::size_t anchored_text::read_words(std::string_view html)
{
    const auto* const stop = std::find_if(html.begin(), html.end(),
                                          [](char c) { return begins_step(c) || is_space(c); });
    const auto length = static_cast<std::size_t>(stop - html.begin());
    text_ += html.substr(0, length);
    if (length == 0)
        put_blank(' ');
    return std::max<std::size_t>(length, 1);
}

std::size_t anchored_text::read_step(std::string_view html, std::size_t at)
{
    const auto step = read_markup(html, at);
    if (step.means == markup::character)
        text_.push_back(html[at]);
    else if (step.means == markup::entity && step.text != " ")
        text_ += step.text;
    else if (step.means == markup::entity)
        put_blank(' ');
    else if (step.means == markup::line_break || step.means == markup::cell)
        put_blank('\n');
    if (html[at] == '<' && step.means != markup::character)
        read_tag(html.substr(at, step.length));
    return step.length;
}

void anchored_text::read_tag(std::string_view tag)
{
    const auto name = tag_name(tag);
    const bool is_area = name == "area";
    if (name == "base" && base_.empty())
        base_ = find_href(tag);
    if (name == "a" || is_area) {
        close_anchor();
        if (tag[1] != '/' && tag.ends_with('>'))
            open_anchor(tag);
    }
    if ((name == "img" || is_area) && is_open_ && anchors_.back().alternative.empty()) {
        const auto alternative = find_attribute(tag, "alt");
        anchors_.back().alternative = alternative && !alternative->empty()
                                          ? *alternative
                                          : find_attribute(tag, "title").value_or("");
    }
    if (is_area)
        close_anchor();
}

void anchored_text::open_anchor(std::string_view tag)
{
    anchor opened;
    opened.url = link_target(tag, base_);
    opened.begin = text_.size();
    anchors_.push_back(std::move(opened));
    is_open_ = true;
}

void anchored_text::close_anchor()
{
    if (is_open_)
        anchors_.back().end = text_.size();
    is_open_ = false;
}

void anchored_text::put_blank(char blank)
{
    if (!text_.empty() && text_.back() != '\n' && (text_.back() != ' ' || blank == '\n'))
        text_.push_back(blank);
}

} // namespace tempinbox::html
