#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::extract {

// A link of a page, an area of an image too, and where its words stand in the page's text.
struct anchor
{
    std::string url;
    std::string alternative; // what an image in place of words says
    std::size_t begin = 0;
    std::size_t end = 0;
};

// HTML as its reader sees it: each block and cell a line, with the anchors in their order, none in
// another. One pass over any bytes.
class html_page
{
public:
    explicit html_page(std::string_view html);

    const std::vector<anchor>& anchors() const { return anchors_; }

    std::string_view inside(std::size_t i) const;
    // From the anchor in front to this one, and from this one to the next.
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
    bool is_open_ = false;
};

} // namespace tempinbox::extract
