#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace tempinbox::html {

// What a person sees of a link: its words on one line, or the alternative text of its picture.
struct seen_link
{
    std::string text;
    std::size_t removed = 0; // characters but blanks that stood among the words
};

// The HTML of a mail as a person reads it.
struct visible_page
{
    // U+0000 stands in place of each character that nobody sees, so that the others keep their
    // offsets; browsers ignore that character, and so do all readers of this library. A link of
    // which nothing is seen is none.
    std::string html;
    std::string text;
    bool shows_text = false; // a glyph at least
    std::size_t removed = 0; // characters but blanks, and the bytes past the cut
    bool is_cut = false;     // it takes more work than a page may
    std::size_t steps = 0;   // of work that it took
};

// The same with the links named.
struct linked_page
{
    visible_page page;
    // By where they lead (link_target.hpp).
    std::map<std::string, seen_link> links;
};

// Steps of work that a page may take, of some 8 ns each: all that is read of a page at the door
// takes 5 ms at most. An ordinary newsletter of 100 KiB takes a third.
inline constexpr std::size_t max_page_steps = 600'000;

// Leaves out what the reader does not see: what is not displayed, has no size, no opacity or the
// color of its background, stands off the page, or is cut away. One pass over any bytes, linear.
// Where the work that a page may take is done, what is left of it counts as hidden.
//
// It judges by what is written in the mail, as filters do, and no mail is rendered: whoever means
// to hide text from it can. That is why all that an agent gets of it is fenced.
visible_page read_visible_page(std::string_view html, std::size_t work = max_page_steps);

// For agents: leaves out what has no glyph, too. After the words of each link stands the host that
// it really leads to, as `⟨link: HOST⟩`; no mail can write such a mark.
linked_page read_linked_page(std::string_view html);

} // namespace tempinbox::html
