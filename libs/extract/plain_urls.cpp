#include "extract/plain_urls.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "extract/vocabulary.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <map>

namespace tempinbox::extract {
namespace {

constexpr std::size_t max_line_bytes = 120;

struct patterns
{
    // Stops at East Asian text and other scripts' punctuation, which follow a URL without a blank.
    RE2 plain{
        R"((https?://[^\s<>"`\\^{}|«»،؛؟۔।\x{80}-\x{a0}\x{2000}-\x{200f}\x{2018}-\x{206f}\x{feff}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\x{3000}-\x{303f}\x{ff00}-\x{ffef}]+))",
        case_blind()};
    // What escapes for HTML makes of the marks around a URL.
    RE2 escaped_mark{
        R"((&(?:amp;)*(?:[lg]t|quot|apos|nbsp|#0*(?:34|39|60|62|160)|#x0*(?:22|27|3c|3e|a0));))",
        case_blind()};
    RE2 opening_mark{R"(&(?:amp;)*(?:lt|quot|apos|#0*(?:34|39|60)|#x0*(?:22|27|3c));$)",
                     case_blind()};
};

const patterns& compiled_patterns()
{
    static const patterns compiled;
    return compiled;
}

// How many of this mark open words on the line: `*Confirm: https://a.test/c*`,
// `__https://a.test/c__`.
std::ptrdiff_t count_opening(std::string_view line, char mark)
{
    const auto at = line.rfind(mark);
    if (at == std::string_view::npos || line.substr(at + 1).starts_with(' '))
        return 0;
    const auto before = line.find_last_not_of(mark, at);
    if (before == std::string_view::npos)
        return static_cast<std::ptrdiff_t>(at + 1);
    return std::string_view(" \t([{>*_~\"'").find(line[before]) == std::string_view::npos
               ? 0
               : static_cast<std::ptrdiff_t>(at - before);
}

// Removes trailing punctuation that ends the sentence; a closing bracket only if it is not opened
// inside the URL, emphasis marks only if they are opened before it: tokens end in `_` and `~` too.
std::string_view without_trailing_marks(std::string_view url, std::string_view line_before)
{
    // How many of each mark to remove at most.
    std::map<char, std::ptrdiff_t> extra = {
        {')', std::count(url.begin(), url.end(), ')') - std::count(url.begin(), url.end(), '(')},
        {']', std::count(url.begin(), url.end(), ']') - std::count(url.begin(), url.end(), '[')}};
    for (const char mark : {'*', '_', '~'})
        extra[mark] = count_opening(line_before, mark);
    while (!url.empty()) {
        const char last = url.back();
        const bool is_mark = std::string_view(".,;:!?'").find(last) != std::string_view::npos;
        if (!is_mark && extra[last]-- <= 0)
            break;
        url.remove_suffix(1);
    }
    return url;
}

bool is_word_character(char c)
{
    return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '-' ||
           c == '%' || c == '/' || c == '?' || c == '&' || c == '=' || c == '#' || c == '+';
}

// The words before a URL on its line.
std::string_view line_before(std::string_view text)
{
    const auto last = text.substr(text.size() - std::min(text.size(), max_line_bytes));
    return last.substr(last.rfind('\n') + 1);
}

// One URL: where it ends.
class url_reader
{
public:
    // `run` is the longest URL that begins there, by its characters.
    url_reader(std::string_view whole, std::size_t begin, std::size_t run_end)
        : whole_(whole),
          begin_(begin),
          end_(run_end),
          opening_(begin),
          before_(line_before(whole.substr(0, begin)))
    {
        cut_at_escaped_mark();
        cut_at_quote();
        cut_at_bracket();
        url_ = whole_.substr(begin_, end_ - begin_);
        if (is_escaped_)
            url_ = replace_all(url_, "&amp;", "&");
        if (!join_lines())
            url_.resize(without_trailing_marks(url_, before_).size());
    }

    const std::string& url() const { return url_; }
    std::size_t opening() const { return opening_; } // of the URL, or of the bracket around it
    std::size_t end() const { return end_; }

private:
    std::string_view text() const { return whole_.substr(begin_, end_ - begin_); }
    void cut(std::size_t length) { end_ = begin_ + std::min(length, end_ - begin_); }

    // `&lt;https://a.test/x&gt;`: text that went through a program which escapes for HTML.
    void cut_at_escaped_mark()
    {
        const auto& patterns = compiled_patterns();
        re2::StringPiece found;
        is_escaped_ = says(before_, patterns.opening_mark);
        const auto url = piece(text());
        if (url.find(';') != re2::StringPiece::npos &&
            RE2::PartialMatch(url, patterns.escaped_mark, &found)) {
            is_escaped_ = true;
            cut(static_cast<std::size_t>(found.data() - url.data()));
        }
    }

    // An apostrophe is a character of a URL (RFC 3986 2.2), but one that was opened before the URL
    // closes behind it, and a host has none.
    void cut_at_quote()
    {
        const auto url = text();
        const auto host = url.find("://") + std::string_view("://").size();
        const auto path = std::min(url.find_first_of("/?#", host), url.size());
        const bool is_quoted = before_.ends_with('\'');
        for (auto at = url.find('\'', host); at != std::string_view::npos;
             at = url.find('\'', at + 1)) {
            const bool is_inside = at + 1 < url.size() && is_word_character(url[at + 1]);
            if (at < path || (is_quoted && !is_inside))
                return cut(at);
        }
    }

    // `[a](https://a.test/x)[b](https://b.test/y)`: a bracket that was opened before the URL.
    void cut_at_bracket()
    {
        const auto url = text();
        std::ptrdiff_t parentheses = 0;
        std::ptrdiff_t brackets = 0;
        const bool in_parentheses = is_open('(', ')');
        const bool in_brackets = is_open('[', ']');
        for (std::size_t at = 0; at < url.size(); ++at) {
            parentheses += (url[at] == '(') - (url[at] == ')');
            brackets += (url[at] == '[') - (url[at] == ']');
            if ((in_parentheses && parentheses < 0) || (in_brackets && brackets < 0))
                return cut(at);
        }
    }

    bool is_open(char opening, char closing) const
    {
        const auto opened = before_.rfind(opening);
        return opened != std::string_view::npos &&
               before_.find(closing, opened) == std::string_view::npos;
    }

    // RFC 3986 appendix C: a URL in angle brackets may be broken over lines, which may be indented
    // or quoted. Such a URL is complete with its trailing marks.
    bool join_lines()
    {
        constexpr int max_lines = 3;
        const auto bracket = find_bracket(whole_.substr(0, begin_));
        if (bracket == std::string_view::npos)
            return false;
        const auto quote_marks = marks_of_quote();
        auto joined = url_;
        auto at = end_;
        for (int line = 1; line <= max_lines; ++line) {
            at = std::min(whole_.find_first_not_of(" \t\r", at), whole_.size());
            if (whole_.substr(at).starts_with('>')) {
                opening_ = bracket;
                end_ = at + 1;
                url_ = std::move(joined);
                return true;
            }
            if (line == max_lines || !whole_.substr(at).starts_with('\n'))
                return false;
            at = next_line(at + 1, quote_marks);
            const auto more = url_characters(at);
            if (joined.size() + more.size() > max_url_bytes ||
                more.find("://") != std::string_view::npos)
                return false;
            joined += more;
            at += more.size();
        }
        return false;
    }

    // The `<` that a text ends in, or `<URL:` (RFC 3986 appendix C).
    static std::size_t find_bracket(std::string_view text)
    {
        constexpr std::string_view prefix = "URL:";
        text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
        if (text.size() > prefix.size() &&
            equals_ignoring_ascii_case(text.substr(text.size() - prefix.size()), prefix))
            text.remove_suffix(prefix.size());
        return text.ends_with('<') ? text.size() - 1 : std::string_view::npos;
    }

    // `> > ` in front of the line on which the URL begins.
    std::string_view marks_of_quote() const
    {
        const auto end = std::min(before_.find_first_not_of("> \t"), before_.size());
        return trim(before_.substr(0, end));
    }

    // The first character of a line behind its marks of a quote and its indentation.
    std::size_t next_line(std::size_t at, std::string_view quote_marks) const
    {
        for (const char mark : quote_marks) {
            if (mark != '>')
                continue;
            const auto next = whole_.find_first_not_of(" \t", at);
            if (next == std::string_view::npos || whole_[next] != '>')
                break;
            at = next + 1;
        }
        return std::min(whole_.find_first_not_of(" \t", at), whole_.size());
    }

    std::string_view url_characters(std::size_t at) const
    {
        const auto rest = whole_.substr(at, max_url_bytes);
        const auto end = std::find_if(rest.begin(), rest.end(), [](char c) {
            return c <= 0x20 || c >= 0x7f ||
                   std::string_view("<>\"`\\^{}|").find(c) != std::string_view::npos;
        });
        return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    }

    std::string_view whole_;
    std::size_t begin_;
    std::size_t end_;
    std::size_t opening_;
    std::string_view before_; // on the same line
    std::string url_;
    bool is_escaped_ = false;
};

} // namespace

plain_urls::plain_urls(std::string_view text) : text_(text) {}

// Searching for "://" is far quicker than the pattern, and most text has none. A run that was cut
// may hold another URL, whose end is the same.
bool plain_urls::find_run()
{
    constexpr std::size_t max_scheme_length = 5;
    constexpr std::string_view marks = "://";
    auto found = text_.find(marks, at_);
    for (; found != std::string_view::npos && found + marks.size() < run_end_;
         found = text_.find(marks, found + marks.size()))
        for (const std::string_view scheme : {"https", "http"})
            if (found - at_ >= scheme.size() &&
                equals_ignoring_ascii_case(text_.substr(found - scheme.size(), scheme.size()),
                                           scheme)) {
                begin_ = found - scheme.size();
                return true;
            }
    if (found == std::string_view::npos)
        return false;
    const auto from = std::max(at_, found - std::min(found, max_scheme_length));
    auto rest = piece(text_.substr(from));
    re2::StringPiece match;
    if (!RE2::FindAndConsume(&rest, compiled_patterns().plain, &match))
        return false;
    begin_ = static_cast<std::size_t>(match.data() - text_.data());
    run_end_ = begin_ + match.size();
    words_end_ = text_.find_last_not_of(".,;:!?')]*_~", run_end_ - 1) + 1;
    return true;
}

std::optional<plain_url> plain_urls::next()
{
    constexpr std::size_t max_looked_at = 4'000;
    while (++looked_at_ <= max_looked_at && find_run()) {
        plain_url found;
        // A longer URL is none, unless what is around it ends it before, or it ends in marks.
        const auto max_end = words_end_ <= begin_ + max_url_bytes
                                 ? run_end_
                                 : std::min(run_end_, begin_ + max_url_bytes + 1);
        if (run_end_ <= begin_ + max_url_bytes)
            found.run = std::string(text_.substr(begin_, run_end_ - begin_));
        const url_reader reader(text_, begin_, max_end);
        found.url = reader.url();
        found.begin = reader.opening();
        found.end = reader.end() == max_end ? run_end_ : reader.end();
        at_ = std::max(found.end, begin_ + 1);
        const bool is_cut_short = max_end != run_end_ && reader.end() == max_end;
        const bool has_host = !found.url.ends_with("://");
        if (!is_cut_short && has_host && found.url.size() <= max_url_bytes)
            return found;
    }
    return std::nullopt;
}

} // namespace tempinbox::extract
