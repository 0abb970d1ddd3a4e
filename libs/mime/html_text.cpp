#include "mime/html_text.hpp"

#include "common/core/text.hpp"

#include <charconv>

namespace tempinbox::mime {
namespace {

struct entity
{
    std::string_view name;
    std::string_view text;
};

constexpr entity entities[] = {
    {"amp", "&"},    {"lt", "<"},     {"gt", ">"},     {"quot", "\""},  {"apos", "'"},   {"nbsp", " "},   {"copy", "©"},
    {"reg", "®"},    {"trade", "™"},  {"hellip", "…"}, {"mdash", "—"},  {"ndash", "–"},  {"lsquo", "‘"},  {"rsquo", "’"},
    {"ldquo", "“"},  {"rdquo", "”"},  {"laquo", "«"},  {"raquo", "»"},  {"bull", "•"},   {"middot", "·"}, {"euro", "€"},
    {"pound", "£"},  {"yen", "¥"},    {"cent", "¢"},   {"sect", "§"},   {"deg", "°"},    {"times", "×"},  {"zwnj", ""},
    {"zwj", ""},     {"shy", ""},     {"ensp", " "},   {"emsp", " "},   {"thinsp", " "}, {"auml", "ä"},   {"ouml", "ö"},
    {"uuml", "ü"},   {"Auml", "Ä"},   {"Ouml", "Ö"},   {"Uuml", "Ü"},   {"szlig", "ß"},  {"eacute", "é"}, {"egrave", "è"},
    {"ecirc", "ê"},  {"agrave", "à"}, {"aacute", "á"}, {"ccedil", "ç"}, {"ntilde", "ñ"}, {"oacute", "ó"}, {"iacute", "í"},
    {"uacute", "ú"}, {"larr", "←"},   {"rarr", "→"},   {"check", "✓"},  {"iexcl", "¡"},  {"iquest", "¿"}, {"ordm", "º"},
};

constexpr std::string_view breaking_tags[] = {"address", "article", "aside",    "blockquote", "br",    "center", "dd",   "div",
                                              "dl",      "dt",      "fieldset", "footer",     "form",  "h1",     "h2",   "h3",
                                              "h4",      "h5",      "h6",       "header",     "hr",    "li",     "main", "nav",
                                              "ol",      "p",       "pre",      "section",    "table", "tr",     "ul"};
constexpr std::string_view skipped_tags[] = {"script", "style", "title", "template", "svg"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name)
{
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string utf8(std::uint32_t point)
{
    if (point == 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return "\xef\xbf\xbd";
    std::string text;
    if (point < 0x80) {
        text.push_back(static_cast<char>(point));
    } else if (point < 0x800) {
        text.push_back(static_cast<char>(0xc0 | point >> 6));
        text.push_back(static_cast<char>(0x80 | (point & 0x3f)));
    } else if (point < 0x10000) {
        text.push_back(static_cast<char>(0xe0 | point >> 12));
        text.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
        text.push_back(static_cast<char>(0x80 | (point & 0x3f)));
    } else {
        text.push_back(static_cast<char>(0xf0 | point >> 18));
        text.push_back(static_cast<char>(0x80 | (point >> 12 & 0x3f)));
        text.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
        text.push_back(static_cast<char>(0x80 | (point & 0x3f)));
    }
    return text;
}

// The character `&name;` or `&#n;` at the front stands for, and its length; 0 where it is none.
std::size_t read_entity(std::string_view html, std::string& text)
{
    constexpr std::size_t longest = 12;
    const auto end = html.substr(0, longest).find(';');
    if (end == std::string_view::npos || end < 2)
        return 0;
    auto name = html.substr(1, end - 1);
    if (name.front() == '#') {
        name.remove_prefix(1);
        const int base = !name.empty() && (name.front() == 'x' || name.front() == 'X') ? 16 : 10;
        if (base == 16)
            name.remove_prefix(1);
        std::uint32_t point = 0;
        const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), point, base);
        if (name.empty() || error != std::errc{} || stop != name.data() + name.size())
            return 0;
        text = point == 0xa0 ? " " : point == 0xad || point == 0x200b || point == 0x200c || point == 0x200d ? "" : utf8(point);
        return end + 1;
    }
    for (const auto& known : entities) {
        if (known.name == name) {
            text = known.text;
            return end + 1;
        }
    }
    return 0;
}

// Text with blanks collapsed and at most one empty line in a row.
class text_flow
{
public:
    explicit text_flow(std::size_t limit) : limit_(limit) {}

    bool is_full() const { return text_.size() >= limit_; }
    void blank() { wants_blank_ = !text_.empty(); }
    void line_break() { ++wants_breaks_; }
    void put(std::string_view piece)
    {
        if (piece.empty())
            return;
        if (wants_breaks_ > 0 && !text_.empty())
            text_.append(wants_breaks_ > 2 ? "\n\n" : "\n");
        else if (wants_blank_ && !text_.empty())
            text_.push_back(' ');
        wants_breaks_ = 0;
        wants_blank_ = false;
        text_.append(piece);
    }
    std::string take()
    {
        text_.resize(take_bytes(text_, limit_).size());
        return std::move(text_);
    }

private:
    std::size_t limit_;
    std::string text_;
    bool wants_blank_ = false;
    int wants_breaks_ = 0;
};

bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

// The end of the tag that begins at `at`: quotes may hold `>`.
std::size_t tag_end(std::string_view html, std::size_t at)
{
    constexpr std::size_t longest = 64 * 1024;
    char quote_mark = 0;
    const auto stop = std::min(html.size(), at + longest);
    for (std::size_t i = at + 1; i < stop; ++i) {
        if (quote_mark != 0) {
            if (html[i] == quote_mark)
                quote_mark = 0;
        } else if ((html[i] == '"' || html[i] == '\'') && html[i - 1] == '=') {
            quote_mark = html[i];
        } else if (html[i] == '>') {
            return i + 1;
        }
    }
    const auto close = html.find('>', at);
    return close == std::string_view::npos ? html.size() : close + 1;
}

std::string tag_name(std::string_view tag)
{
    std::size_t at = 1;
    if (at < tag.size() && tag[at] == '/')
        ++at;
    const auto from = at;
    while (at < tag.size() &&
           ((tag[at] >= 'a' && tag[at] <= 'z') || (tag[at] >= 'A' && tag[at] <= 'Z') || (tag[at] >= '0' && tag[at] <= '9')))
        ++at;
    return to_lower_ascii(tag.substr(from, std::min<std::size_t>(at - from, 16)));
}

// Past the end tag of a script or the like; the end of the text where there is none.
std::size_t skip_element(std::string_view html, std::size_t at, const std::string& name)
{
    for (auto close = html.find("</", at); close != std::string_view::npos; close = html.find("</", close + 2))
        if (equals_ignoring_ascii_case(html.substr(close + 2, name.size()), name))
            return tag_end(html, close);
    return html.size();
}

std::size_t skip_markup(std::string_view html, std::size_t at, text_flow& flow)
{
    if (html.substr(at, 4) == "<!--") {
        const auto end = html.find("-->", at + 4);
        return end == std::string_view::npos ? html.size() : end + 3;
    }
    const auto end = tag_end(html, at);
    const auto tag = html.substr(at, end - at);
    const auto name = tag_name(tag);
    if (is_one_of(breaking_tags, name)) {
        flow.line_break();
        if (name == "p" || name == "table" || (name.size() == 2 && name[0] == 'h' && name != "hr"))
            flow.line_break();
    } else if (name == "td" || name == "th") {
        flow.blank();
    }
    const bool opens = tag.size() > 1 && tag[1] != '/' && !tag.ends_with("/>");
    return opens && is_one_of(skipped_tags, name) ? skip_element(html, end, name) : end;
}

} // namespace

std::string html_to_text(std::string_view html, std::size_t limit)
{
    text_flow flow(limit);
    std::string decoded_entity;
    for (std::size_t at = 0; at < html.size() && !flow.is_full();) {
        const char c = html[at];
        if (c == '<' && at + 1 < html.size() && !is_space(html[at + 1])) {
            at = skip_markup(html, at, flow);
        } else if (is_space(c)) {
            flow.blank();
            ++at;
        } else if (c == '&') {
            const auto length = read_entity(html.substr(at), decoded_entity);
            if (length > 0 && decoded_entity == " ")
                flow.blank();
            else
                flow.put(length > 0 ? std::string_view(decoded_entity) : html.substr(at, 1));
            at += std::max<std::size_t>(length, 1);
        } else {
            auto end = html.find_first_of("<& \t\r\n\f", at + 1);
            end = std::min(end, html.size());
            flow.put(html.substr(at, end - at));
            at = end;
        }
    }
    return flow.take();
}

} // namespace tempinbox::mime
