#include "common/core/text.hpp"
#include "fuzz/require.hpp"
#include "html/anchors.hpp"
#include "html/visible_page.hpp"

#include <cstddef>
#include <cstdint>

using namespace tempinbox;
using fuzz::require;
using fuzz::require_clean;

namespace {

std::string_view take_character(std::string_view& text)
{
    std::size_t size = 1;
    while (size < text.size() && (static_cast<std::uint8_t>(text[size]) & 0xc0) == 0x80)
        ++size;
    const auto character = text.substr(0, size);
    text.remove_prefix(size);
    return character;
}

void require_masked(std::string_view seen, std::string_view whole)
{
    while (!seen.empty()) {
        require(!whole.empty(), "nothing is added to a page");
        const auto character = take_character(seen);
        const auto written = take_character(whole);
        // A link of which nothing is seen becomes an element that means nothing.
        const bool was_link = character == "b" && (written == "a" || written == "A");
        require(character == written || character == std::string_view("\0", 1) || was_link,
                "a character stays where it is, or U+0000 stands in its place");
    }
}

void require_page(const html::visible_page& page)
{
    require(page.steps <= html::max_page_steps, "a page takes no more work than it may");
    require_clean(page.text, "what is seen of a page is clean");
}

} // namespace

// The HTML of a mail.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const auto html = to_clean_utf8(std::string_view(reinterpret_cast<const char*>(input), size));

    const auto page = html::read_visible_page(html);
    require_page(page);
    require_masked(page.html, html);
    require(page.is_cut || count_characters(page.html) == count_characters(html),
            "a page that is not cut is there whole");

    const auto linked = html::read_linked_page(html);
    require_page(linked.page);
    for (const auto& [target, link] : linked.links)
        require_clean(link.text, "what is seen of a link is clean");

    const html::anchored_text text(page.html);
    for (std::size_t i = 0; i < text.anchors().size(); ++i) {
        require_clean(text.inside(i), "the words of an anchor are clean");
        require_clean(text.before(i), "the text before an anchor is clean");
        require_clean(text.after(i), "the text after an anchor is clean");
    }
    return 0;
}
