#include "common/core/text.hpp"
#include "extract/codes.hpp"
#include "extract/link_kinds.hpp"
#include "extract/vocabulary.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <map>

namespace tempinbox::extract {
namespace {

constexpr std::size_t longest_part = 256 * 1024;
constexpr std::size_t longest_url = 4'096;
constexpr std::size_t longest_text = 200;
constexpr std::size_t most_links = 200;

struct patterns
{
    // East Asian text follows a URL without a blank.
    RE2 plain{
        R"((https?://[^\s<>"'`\\^{}|“”„«»…\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\x{3000}-\x{303f}\x{ff00}-\x{ffef}]+))",
        case_blind()};
    RE2 anchor{R"re((<a\s)[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))[^>]*>)re", case_blind()};
    RE2 tag{R"(<[^>]*>)"};
    RE2 blanks{R"(\s+)"};
    // What an image in place of words says.
    RE2 alternative{R"re(<img\s[^>]*?\b(?:alt|title)\s*=\s*(?:"([^"]*)"|'([^']*)'))re", case_blind()};
    // Where the words in front of a link begin at the earliest.
    RE2 block{R"(</?(?:a|p|div|td|th|tr|li|h[1-6]|table|br)\b[^>]*>)", case_blind()};
};

const patterns& known()
{
    static const patterns compiled;
    return compiled;
}

// Punctuation that ends the sentence, not the URL; a closing bracket only where it was not opened inside.
std::string_view without_trailing_marks(std::string_view url)
{
    const auto opened = std::count(url.begin(), url.end(), '(');
    auto closed = std::count(url.begin(), url.end(), ')');
    while (!url.empty()) {
        const char last = url.back();
        const bool is_mark = std::string_view(".,;:!?*_~]").find(last) != std::string_view::npos;
        const bool is_lone_bracket = last == ')' && opened < closed;
        if (!is_mark && !is_lone_bracket)
            break;
        if (last == ')')
            --closed;
        url.remove_suffix(1);
    }
    return url;
}

std::string without_entities(std::string_view href)
{
    constexpr std::pair<std::string_view, char> entities[] = {{"&amp;", '&'}, {"&#38;", '&'},  {"&#x26;", '&'},
                                                              {"&#61;", '='}, {"&#x3D;", '='}, {"&quot;", '"'}};
    std::string url;
    for (auto rest = trim(href); !rest.empty();) {
        const auto known = std::find_if(std::begin(entities), std::end(entities),
                                        [rest](const auto& entity) { return rest.starts_with(entity.first); });
        const bool is_entity = known != std::end(entities);
        url.push_back(is_entity ? known->second : rest.front());
        rest.remove_prefix(is_entity ? known->first.size() : 1);
    }
    return url;
}

bool is_web(std::string_view url)
{
    return equals_ignoring_ascii_case(url.substr(0, 7), "http://") || equals_ignoring_ascii_case(url.substr(0, 8), "https://");
}

class collector
{
public:
    // So many were found, or looked at in vain.
    bool is_full() const { return found_.size() >= most_links || adds_ >= 4 * most_links; }

    // A URL seen again may tell what it is for where it did not the first time.
    bool wants(const std::string& url) const
    {
        const auto known_as = seen_.find(url);
        return url.size() <= longest_url && (known_as == seen_.end() || found_[known_as->second].kind == "other");
    }

    void add(const std::string& url, std::string text, std::string_view kind)
    {
        ++adds_;
        const auto [place, is_new] = seen_.emplace(url, found_.size());
        if (!is_new) {
            found_[place->second].kind = kind;
            return;
        }
        link fresh;
        fresh.url = url;
        fresh.text = std::move(text);
        fresh.kind = kind;
        found_.push_back(std::move(fresh));
    }
    std::vector<link> take() { return std::move(found_); }

private:
    std::vector<link> found_;
    std::size_t adds_ = 0;
    std::map<std::string, std::size_t> seen_;
};

// Without the rest of a character that was cut at the front.
std::string_view from_whole_character(std::string_view text)
{
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80)
        text.remove_prefix(1);
    return text;
}

std::string shown(std::string_view inner)
{
    std::string text(inner);
    RE2::GlobalReplace(&text, known().tag, " ");
    RE2::GlobalReplace(&text, known().blanks, " ");
    const auto clean = trim(text);
    return std::string(take_characters(clean, longest_text));
}

std::string text_of_anchor(std::string_view inner)
{
    auto text = shown(inner);
    re2::StringPiece in_double, in_single;
    if (text.empty() && RE2::PartialMatch(piece(inner), known().alternative, &in_double, &in_single)) {
        const auto& given = in_double.data() ? in_double : in_single;
        text = shown(std::string_view(given.data(), given.size()));
    }
    return text;
}

// What the reader sees in front of an anchor, in its block and after the anchor before it.
std::string words_before_anchor(std::string_view html, std::size_t at)
{
    constexpr std::size_t longest_source = 400;
    auto before = from_whole_character(html.substr(at - std::min(at, longest_source), std::min(at, longest_source)));
    re2::StringPiece rest = piece(before);
    while (RE2::FindAndConsume(&rest, known().block)) {
    }
    return shown(std::string_view(rest.data(), rest.size()));
}

void collect_anchors(std::string_view whole, collector& links)
{
    constexpr std::size_t longest_inner = 2'000;
    const auto html = take_bytes(whole, longest_part);
    re2::StringPiece rest = piece(html);
    re2::StringPiece anchor, double_quoted, single_quoted, bare;
    while (!links.is_full() && RE2::FindAndConsume(&rest, known().anchor, &anchor, &double_quoted, &single_quoted, &bare)) {
        const auto& given = double_quoted.data() ? double_quoted : single_quoted.data() ? single_quoted : bare;
        const auto url = without_entities(std::string_view(given.data(), given.size()));
        if (!is_web(url) || !links.wants(url))
            continue;
        const auto after = take_bytes(std::string_view(rest.data(), rest.size()), longest_inner);
        const auto end = std::min(after.find("</a"), after.find("</A"));
        auto text = end == std::string_view::npos ? std::string() : text_of_anchor(after.substr(0, end));
        const auto words = words_before_anchor(html, static_cast<std::size_t>(anchor.data() - html.data()));
        const auto* kind = kind_of_link(url, text, words);
        links.add(url, std::move(text), kind);
    }
}

// The words before a URL on its line, or on the line before where it stands alone, say what it is for.
std::string words_before_url(std::string_view text, std::size_t at)
{
    constexpr std::size_t longest_context = 120;
    auto context = trim(text.substr(at - std::min(at, longest_context), std::min(at, longest_context)));
    if (const auto line = context.rfind('\n'); line != std::string_view::npos)
        context = context.substr(line + 1);
    return shown(from_whole_character(context));
}

// The rest of the sentence, on the same line: `… click https://a.test/1 to confirm your address`. None where another URL follows.
std::string words_after_url(std::string_view text, std::size_t at)
{
    constexpr std::size_t longest_context = 120;
    auto context = take_bytes(text.substr(at), longest_context);
    context = context.substr(0, context.find('\n'));
    if (context.find("://") != std::string_view::npos)
        return {};
    return shown(context.substr(0, context.find_first_of(".!?")));
}

void collect_plain(std::string_view text, collector& links)
{
    constexpr std::size_t longest_scheme = 5;
    const auto whole = take_bytes(text, longest_part);
    re2::StringPiece rest = piece(whole);
    re2::StringPiece match;
    while (!links.is_full()) {
        // Looking for the marks is far quicker than the pattern, and most text has none.
        const auto marks = rest.find("://");
        if (marks == re2::StringPiece::npos)
            return;
        rest.remove_prefix(marks - std::min(marks, longest_scheme));
        if (!RE2::FindAndConsume(&rest, known().plain, &match))
            return;
        const std::string url(without_trailing_marks(std::string_view(match.data(), match.size())));
        if (!links.wants(url))
            continue;
        auto words = words_before_url(whole, static_cast<std::size_t>(match.data() - whole.data()));
        std::string_view kind = kind_of_link(url, {}, words);
        if (kind == "other")
            kind = kind_of_link(url, {}, words_after_url(whole, static_cast<std::size_t>(rest.data() - whole.data())));
        links.add(url, std::move(words), kind);
    }
}

} // namespace

std::vector<link> find_links(const std::optional<std::string>& text, const std::optional<std::string>& html)
{
    collector links;
    if (html)
        collect_anchors(*html, links);
    if (text)
        collect_plain(*text, links);
    return links.take();
}

} // namespace tempinbox::extract
