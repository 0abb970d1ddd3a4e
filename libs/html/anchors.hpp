#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::html {

// A link of a page (or an area of an image map), and the range of its words in the page's text.
struct anchor
{
    std::string url;
    std::string alternative; // the alternative text, if an image stands in place of words
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The text of a page with its anchors, and what stands around them: each block and cell is a line;
// anchors are in order and never nest. One pass; any bytes are accepted.
class anchored_text
{
public:
    explicit anchored_text(std::string_view html);

    const std::vector<anchor>& anchors() const { return anchors_; }

    std::string_view inside(std::size_t i) const;
    // The text between the previous anchor and this one, and between this one and the next.
    std::string_view before(std::size_t i) const;
    std::string_view after(std::size_t i) const;

private:
    std::string_view between(std::size_t begin, std::size_t end) const;
    std::size_t read_words(std::string_view html);
    std::size_t read_step(std::string_view html, std::size_t at);
    void read_tag(std::string_view tag);
    void open_anchor(std::string_view tag);
    void close_anchor();
    void put_blank(char blank);

    std::string text_;
    std::vector<anchor> anchors_;
    std::string base_; // that links are relative to, if the page names one
    bool is_open_ = false;
};

} // namespace tempinbox::html
