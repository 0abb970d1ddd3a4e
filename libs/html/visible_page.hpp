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
    std::string text;
    std::size_t removed = 0; // characters but blanks
    // By where they lead, as browsers take it: without line breaks, tabs and surrounding blanks.
    std::map<std::string, seen_link> links;
    bool is_cut = false;   // it takes more work than a page may
    std::size_t steps = 0; // of work that it took
};

// Steps of work that a page may take; an ordinary newsletter takes a tenth.
inline constexpr std::size_t max_page_steps = 2'000'000;

// Leaves out what the reader does not see: what is not displayed, has no size, no opacity or the
// color of its background, stands off the page, is cut away, or has no glyph. After the words of
// each link stands the host that it really leads to, as `⟨link: HOST⟩`; no mail can write such a
// mark. One pass over any bytes, linear. Where the work that a page may take is done, what is left
// of it counts as hidden.
//
// It judges by what is written in the mail, as filters do, and no mail is rendered: whoever means
// to hide text from it can. That is why all that it gives is fenced.
visible_page read_visible_page(std::string_view html);

} // namespace tempinbox::html
