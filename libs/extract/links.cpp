#include "common/core/text.hpp"
#include "extract/codes.hpp"
#include "extract/link_kinds.hpp"
#include "extract/plain_urls.hpp"
#include "extract/vocabulary.hpp"
#include "html/anchors.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <map>

namespace tempinbox::extract {
namespace {

constexpr std::size_t max_part_bytes = 256 * 1024;
constexpr std::size_t max_text_length = 200;
constexpr std::size_t max_links = 200;

struct patterns
{
    RE2 tag{R"(<[^>]*>)"};
    RE2 letter{R"([\pL\pN])"};
    RE2 blanks{R"([\s\x{a0}\x{2000}-\x{200a}\x{202f}\x{3000}]+)"};
    RE2 invisible{R"([\x{ad}\x{200b}-\x{200d}\x{2060}\x{feff}]+)"};
};

const patterns& compiled_patterns()
{
    static const patterns compiled;
    return compiled;
}

bool is_web(std::string_view url)
{
    return equals_ignoring_ascii_case(url.substr(0, 7), "http://") ||
           equals_ignoring_ascii_case(url.substr(0, 8), "https://");
}

class collector
{
public:
    // The limit of links found, or of attempts, is reached.
    bool is_full() const { return found_.size() >= max_links || adds_ >= 4 * max_links; }

    // A URL seen before is accepted again while its kind is "other".
    bool accepts(const std::string& url) const
    {
        const auto seen = seen_.find(url);
        return url.size() <= max_url_bytes &&
               (seen == seen_.end() || found_[seen->second].kind == "other");
    }

    // The words around a URL do not override a text that said something else: `Terms`, then `you
    // agree to our terms (https://…)`.
    void add(const std::string& url, std::string text, std::string_view kind, bool points)
    {
        ++adds_;
        const auto [entry, is_new] = seen_.emplace(url, found_.size());
        if (!is_new) {
            if (!points || !has_said_[entry->second])
                found_[entry->second].kind = kind;
            return;
        }
        has_said_.push_back(!points);
        link fresh;
        fresh.url = url;
        fresh.text = std::move(text);
        fresh.kind = kind;
        found_.push_back(std::move(fresh));
    }
    bool has_seen(const std::string& url) const { return seen_.contains(url); }
    std::vector<link> take() { return std::move(found_); }

private:
    std::vector<link> found_;
    std::vector<bool> has_said_; // the link's text is not a pointer
    std::size_t adds_ = 0;
    std::map<std::string, std::size_t> seen_;
};

// Drops the rest of a character that was cut at the front.
std::string_view from_whole_character(std::string_view text)
{
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80)
        text.remove_prefix(1);
    return text;
}

std::string on_one_line(std::string text)
{
    RE2::GlobalReplace(&text, compiled_patterns().invisible, "");
    RE2::GlobalReplace(&text, compiled_patterns().blanks, " ");
    return std::string(take_characters(trim(text), max_text_length));
}

std::string shown(std::string_view plain)
{
    std::string text(plain);
    RE2::GlobalReplace(&text, compiled_patterns().tag, " ");
    return on_one_line(std::move(text));
}

// The last `bytes` of a text, starting at a whole character.
std::string_view last_bytes(std::string_view text, std::size_t bytes)
{
    return from_whole_character(text.substr(text.size() - std::min(text.size(), bytes)));
}

std::string_view last_line(std::string_view text)
{
    return text.substr(text.rfind('\n') + 1);
}

std::string_view rest_of_sentence(std::string_view text)
{
    constexpr std::size_t max_context_bytes = 120;
    const auto context = take_bytes(text, max_context_bytes);
    return context.substr(0, context.find_first_of("\n.!?"));
}

std::string text_of_anchor(const html::anchored_text& page, std::size_t i)
{
    constexpr std::size_t max_inner_bytes = 2'000;
    auto text = on_one_line(std::string(take_bytes(page.inside(i), max_inner_bytes)));
    return text.empty() ? on_one_line(std::string(
                              take_bytes(page.anchors()[i].alternative, max_inner_bytes)))
                        : text;
}

bool has_words(std::string_view text)
{
    return says(text, compiled_patterns().letter);
}

// The kind of a link whose text is a pointer: by the words before it, else those after it, else, if
// it stands alone, the line above.
std::string_view kind_of_pointer(const html::anchored_text& page, std::size_t i,
                                 const std::string& text)
{
    constexpr std::size_t max_context_bytes = 200;
    const auto& url = page.anchors()[i].url;
    const auto above = last_bytes(page.before(i), max_context_bytes);
    const auto before = last_line(above);
    const auto after = rest_of_sentence(page.after(i));
    std::string_view kind = kind_of_link(url, text, on_one_line(std::string(before)));
    if (kind == "other")
        kind = kind_of_link(url, text, on_one_line(std::string(after)));
    const bool stands_alone = !has_words(before) && !has_words(after);
    if (kind != "other" || !stands_alone || text.empty())
        return kind;
    return kind_of_link(url, text, on_one_line(std::string(last_line(trim(above)))));
}

void collect_anchors(std::string_view html, collector& links)
{
    const html::anchored_text page(html);
    for (std::size_t i = 0; i < page.anchors().size() && !links.is_full(); ++i) {
        const auto& anchor = page.anchors()[i];
        if (!is_web(anchor.url) || !links.accepts(anchor.url))
            continue;
        auto text = text_of_anchor(page, i);
        const bool points = is_pointer(text);
        const std::string_view kind =
            points ? kind_of_pointer(page, i, text) : kind_of_link(anchor.url, text, {});
        links.add(anchor.url, std::move(text), kind, points);
    }
}

// The words before a URL on its line, or on the line before if it stands alone.
std::string words_before_url(std::string_view text)
{
    return shown(last_line(trim(text)));
}

// The rest of the sentence on the same line: `… click https://a.test/1 to confirm your address`.
// Empty if another URL follows.
std::string words_after_url(std::string_view text)
{
    const auto words = rest_of_sentence(text);
    return words.find("://") == std::string_view::npos ? shown(words) : std::string();
}

void collect_plain(std::string_view text, collector& links)
{
    constexpr std::size_t max_line_bytes = 120;
    const auto whole = take_bytes(text, max_part_bytes);
    plain_urls urls(whole);
    while (const auto found = links.is_full() ? std::nullopt : urls.next()) {
        // A URL known from an anchor is complete with its trailing marks.
        const std::string& url = links.has_seen(found->run) ? found->run : found->url;
        if (!links.accepts(url))
            continue;
        auto words = words_before_url(last_bytes(whole.substr(0, found->begin), max_line_bytes));
        std::string_view kind = kind_of_link(url, {}, words);
        if (kind == "other")
            kind = kind_of_link(url, {}, words_after_url(whole.substr(found->end)));
        links.add(url, std::move(words), kind, true);
    }
}

} // namespace

std::vector<link> find_links(const std::optional<std::string>& text,
                             const std::optional<html::visible_page>& page)
{
    collector links;
    if (page)
        collect_anchors(page->html, links);
    if (page && page->shows_text)
        collect_plain(page->text, links);
    else if (text)
        collect_plain(*text, links);
    return links.take();
}

} // namespace tempinbox::extract
