#include "common/core/text.hpp"
#include "extract/codes.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <set>

namespace tempinbox::extract {
namespace {

constexpr std::size_t longest_part = 256 * 1024;
constexpr std::size_t longest_url = 4'096;
constexpr std::size_t longest_text = 200;
constexpr std::size_t most_links = 200;

RE2::Options case_blind()
{
    RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    options.set_dot_nl(true);
    return options;
}

struct patterns
{
    RE2 plain{R"((https?://[^\s<>"'`\\^{}|]+))", case_blind()};
    RE2 anchor{R"re(<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))[^>]*>)re", case_blind()};
    RE2 tag{R"(<[^>]*>)"};
    RE2 blanks{R"(\s+)"};
    RE2 unsubscribe{
        R"(unsub|opt[-_ ]?out|list-?manage|email[-_ ]?preferences|manage[-_ ]?(?:your[-_ ]?)?(?:preferences|subscription)|notification[-_ ]?settings|)"
        R"(abmelden|abbestellen|d[eé]sabonn|d[eé]sinscri|cancelar (?:la )?suscripci|darse de baja|disiscri|отписаться|退订|配信停止)",
        case_blind()};
    RE2 reset{
        R"((?:reset|change|forgot|recover|restore|new|set)[-_ /]*(?:your[-_ ]*|my[-_ ]*|the[-_ ]*)?(?:account[-_ ]*)?pass(?:word|wd|code)?\b|pass(?:word|wd)[-_ /]*(?:reset|recovery|change|forgot)|)"
        R"(account[-_ /]?recovery|passwort (?:zur[uü]cksetzen|[aä]ndern)|mot de passe|contrase[nñ]a|сброс|重置密码|パスワード)",
        case_blind()};
    RE2 verify{
        R"(verif|confirm|activat|validat|magic[-_ ]?link|sign[-_ ]?in[-_ ]?link|log[-_ ]?in[-_ ]?link|double[-_ ]?opt[-_ ]?in|complete[-_ ]?(?:your[-_ ]?)?(?:registration|sign[-_ ]?up)|)"
        R"(accept[-_ ]?invit|best[aä]tig|aktivier|подтверд|验证|確認|認証)",
        case_blind()};
};

const patterns& known()
{
    static const patterns compiled;
    return compiled;
}

re2::StringPiece piece(std::string_view text)
{
    return re2::StringPiece(text.data(), text.size());
}

const char* kind_of(std::string_view url, std::string_view text)
{
    const auto& all = known();
    const std::string both = std::string(text) + "\n" + std::string(url);
    const auto says = [&](const RE2& pattern) { return RE2::PartialMatch(both, pattern); };
    if (says(all.unsubscribe))
        return "unsubscribe";
    if (says(all.reset))
        return "reset";
    return says(all.verify) ? "verify" : "other";
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
    bool is_full() const { return found_.size() >= most_links; }
    bool has(const std::string& url) const { return seen_.count(url) > 0; }
    void add(std::string url, std::string text)
    {
        if (url.size() > longest_url || is_full() || !seen_.insert(url).second)
            return;
        link fresh;
        fresh.kind = kind_of(url, text);
        fresh.url = std::move(url);
        fresh.text = std::move(text);
        found_.push_back(std::move(fresh));
    }
    std::vector<link> take() { return std::move(found_); }

private:
    std::vector<link> found_;
    std::set<std::string> seen_;
};

std::string shown_text(std::string_view inner)
{
    std::string text(inner);
    RE2::GlobalReplace(&text, known().tag, " ");
    RE2::GlobalReplace(&text, known().blanks, " ");
    const auto clean = trim(text);
    return std::string(take_characters(clean, longest_text));
}

void collect_anchors(std::string_view html, collector& links)
{
    constexpr std::size_t longest_inner = 2'000;
    re2::StringPiece rest = piece(take_bytes(html, longest_part));
    re2::StringPiece double_quoted, single_quoted, bare;
    while (!links.is_full() && RE2::FindAndConsume(&rest, known().anchor, &double_quoted, &single_quoted, &bare)) {
        const auto& given = double_quoted.data() ? double_quoted : single_quoted.data() ? single_quoted : bare;
        auto url = without_entities(std::string_view(given.data(), given.size()));
        if (!is_web(url) || links.has(url))
            continue;
        const auto after = take_bytes(std::string_view(rest.data(), rest.size()), longest_inner);
        auto end = after.find("</a");
        end = std::min(end, after.find("</A"));
        links.add(std::move(url), end == std::string_view::npos ? std::string() : shown_text(after.substr(0, end)));
    }
}

// Without the rest of a character that was cut at the front.
std::string_view from_whole_character(std::string_view text)
{
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80)
        text.remove_prefix(1);
    return text;
}

void collect_plain(std::string_view text, collector& links)
{
    constexpr std::size_t longest_context = 80;
    const auto whole = take_bytes(text, longest_part);
    re2::StringPiece rest = piece(whole);
    re2::StringPiece match;
    while (!links.is_full() && RE2::FindAndConsume(&rest, known().plain, &match)) {
        const auto at = static_cast<std::size_t>(match.data() - whole.data());
        // The words before it on its line say what it is for.
        auto context = whole.substr(at - std::min(at, longest_context), std::min(at, longest_context));
        if (const auto line = trim(context).rfind('\n'); line != std::string_view::npos)
            context = trim(context).substr(line + 1);
        const auto url = without_trailing_marks(std::string_view(match.data(), match.size()));
        links.add(std::string(url), shown_text(from_whole_character(context)));
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
