#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "extract/codes.hpp"
#include "extract/shown_text.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

using namespace tempinbox;
using fuzz::require;
using fuzz::require_clean;

namespace {

// Whether the value begins the text, not counting blanks and marks between groups.
bool begins_with(std::string_view text, std::string_view value)
{
    std::size_t at = 0;
    for (const char c : value) {
        while (at < text.size() && text[at] != c && !is_letter_or_digit(text[at]))
            ++at;
        if (at == text.size() || text[at] != c)
            return false;
        ++at;
    }
    return true;
}

// Whether the value begins at the character of the part that the offset names.
bool stands_at(const extract::shown_text& shown, std::size_t offset, std::string_view value)
{
    const auto text = shown.text();
    for (std::size_t at = 0; at < text.size(); ++at)
        if (shown.offset_of(at) == offset && begins_with(text.substr(at), value))
            return true;
    return false;
}

void require_codes(const std::vector<extract::code>& codes, std::string_view subject,
                   std::string_view text, std::string_view html)
{
    require(codes.size() <= 20, "codes are bounded");
    std::set<std::string> values;
    double last = 1;
    for (const auto& code : codes) {
        require(values.insert(code.value).second, "every code is listed once");
        require(code.score > 0 && code.score <= last, "the likeliest code is first");
        last = code.score;
        require(code.value.size() >= 4 && code.value.size() <= 40, "a code is short");
        require(code.part == "subject" || code.part == "text" || code.part == "html",
                "a code is somewhere");
        const bool is_html = code.part == "html";
        const auto whole = is_html ? html : code.part == "text" ? text : subject;
        require(code.offset >= 0 && static_cast<std::size_t>(code.offset) < count_characters(whole),
                "an offset is inside its part");
        const auto shown =
            is_html ? extract::shown_text::of_html(whole) : extract::shown_text::of_plain(whole);
        require(stands_at(shown, static_cast<std::size_t>(code.offset), code.value),
                "a code is where it says");
    }
}

html::visible_page require_page(const std::string& html)
{
    auto page = html::read_visible_page(html);
    require(page.steps <= html::max_page_steps, "a page takes no more work than it may");
    const auto characters = count_characters(html);
    require(page.is_cut ? count_characters(page.html) <= characters
                        : count_characters(page.html) == characters,
            "what is seen keeps its offset");
    return page;
}

void require_links(const std::vector<extract::link>& links)
{
    require(links.size() <= 200, "links are bounded");
    std::set<std::string> urls;
    for (const auto& link : links) {
        require(urls.insert(link.url).second, "every link is listed once");
        require(link.url.size() <= 4'096, "a link is bounded");
        const auto scheme = to_lower_ascii(link.url.substr(0, 8));
        require(scheme.starts_with("http://") || scheme.starts_with("https://"),
                "a link leads to the web");
        require_clean(link.url, "a link is clean");
        require_clean(link.text, "the text of a link is clean");
        require(count_characters(link.text) <= 200, "the text of a link is short");
        require(link.kind == "verify" || link.kind == "reset" || link.kind == "unsubscribe" ||
                    link.kind == "other",
                "a link has a kind");
    }
}

} // namespace

// A mail's texts: the first two bytes that are 0xff divide the input into subject, text and html.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(input), size);
    const auto first = std::min(bytes.find('\xff'), bytes.size());
    const auto second = std::min(bytes.find('\xff', first + 1), bytes.size());
    const auto subject = to_clean_utf8(bytes.substr(0, first));
    std::optional<std::string> text;
    std::optional<html::visible_page> page;
    if (first < bytes.size())
        text = to_clean_utf8(bytes.substr(first + 1, second - first - 1));
    if (second < bytes.size())
        page = require_page(to_clean_utf8(bytes.substr(second + 1)));

    require_codes(extract::find_codes(subject, text, page), subject, text.value_or(""),
                  page ? page->html : std::string_view());
    require_links(extract::find_links(text, page));
    return 0;
}
