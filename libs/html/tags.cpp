#include "html/tags.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "html/references.hpp"

#include <algorithm>

namespace tempinbox::html {
namespace {

struct attribute
{
    std::string_view name;
    std::string_view value;
};

// The offset of the first character from `at` on that passes the test; the end if none does.
template <typename Test>
std::size_t find_first(std::string_view html, std::size_t at, Test test)
{
    const auto from = html.begin() + static_cast<std::ptrdiff_t>(std::min(at, html.size()));
    return static_cast<std::size_t>(std::find_if(from, html.end(), test) - html.begin());
}

// Lambdas, so that each search has its test within it.
constexpr auto is_not_space = [](char c) {
    return c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f';
};
constexpr auto ends_tag_name = [](char c) { return !is_not_space(c) || c == '/' || c == '>'; };

// Reads the attribute at or after `at` and moves `at` past it; false at the end of the tag.
bool next_attribute(std::string_view html, std::size_t& at, attribute& next)
{
    at = find_first(html, at, [](char c) { return is_not_space(c) && c != '/'; });
    if (at == html.size() || html[at] == '>')
        return false;
    const auto name_end =
        find_first(html, at + 1, [](char c) { return ends_tag_name(c) || c == '='; });
    next = {html.substr(at, name_end - at), {}};
    at = name_end;
    const auto equals = find_first(html, at, is_not_space);
    if (equals == html.size() || html[equals] != '=')
        return true;
    at = find_first(html, equals + 1, is_not_space);
    if (at == html.size() || html[at] == '>')
        return true;
    const bool is_quoted = html[at] == '"' || html[at] == '\'';
    // A quote that is never closed encloses nothing, so the search for its end fails only once for
    // each kind of quote.
    const auto close = is_quoted ? html.find(html[at], at + 1) : std::string_view::npos;
    if (close != std::string_view::npos) {
        next.value = html.substr(at + 1, close - at - 1);
        at = close + 1;
        return true;
    }
    const auto end = find_first(html, at, [](char c) { return !is_not_space(c) || c == '>'; });
    next.value = html.substr(at, end - at);
    at = end;
    return true;
}

// The offset past the first `close` from `at` on; the end of the text if there is none.
std::size_t past(std::string_view html, std::string_view close, std::size_t at)
{
    const auto begin = html.find(close, at);
    return begin == std::string_view::npos ? html.size() : begin + close.size();
}

std::size_t name_begin(std::string_view tag)
{
    return tag.starts_with("</") ? 2 : 1;
}

// The end of the tag name that begins at `at`.
std::size_t name_end(std::string_view html, std::size_t at)
{
    return find_first(html, at, ends_tag_name);
}

} // namespace

bool is_space(char c)
{
    return !is_not_space(c);
}

bool is_markup_at(std::string_view html, std::size_t at)
{
    if (html[at] != '<' || at + 1 >= html.size())
        return false;
    const char next = html[at + 1];
    return is_letter(next) || next == '/' || next == '!' || next == '?';
}

std::size_t markup_end(std::string_view html, std::size_t at)
{
    if (html.substr(at, 4) == "<!--")
        return past(html, "-->", at + 2); // `<!-->` is complete
    const auto name = at + (html.substr(at, 2) == "</" ? 2 : 1);
    if (name >= html.size() || !is_letter(html[name]))
        return past(html, ">", at);
    auto end = name_end(html, name);
    attribute skipped;
    while (next_attribute(html, end, skipped)) {
    }
    return std::min(end + 1, html.size());
}

std::string tag_name(std::string_view tag)
{
    constexpr std::size_t max_length = 16;
    const auto begin = name_begin(tag);
    if (begin >= tag.size() || !is_letter(tag[begin]))
        return {};
    return to_lower_ascii(tag.substr(begin, std::min(name_end(tag, begin) - begin, max_length)));
}

bool is_opening(std::string_view tag)
{
    return name_begin(tag) == 1 && !tag.ends_with("/>");
}

std::size_t count_separators(std::string_view tag)
{
    return static_cast<std::size_t>(std::count_if(tag.begin(), tag.end(), [](char c) {
        return (c >= 0 && c <= ' ') || c == '=' || c == '/';
    }));
}

std::optional<std::string> find_attribute(std::string_view tag, std::string_view name)
{
    auto at = name_end(tag, name_begin(tag));
    attribute current;
    while (next_attribute(tag, at, current))
        if (equals_ignoring_ascii_case(current.name, name))
            return decode_character_references(current.value, reference_context::attribute);
    return std::nullopt;
}

std::string find_href(std::string_view tag)
{
    std::string url(trim(find_attribute(tag, "href").value_or("")));
    std::erase_if(url, [](char c) { return c == '\t' || c == '\r' || c == '\n'; });
    return url;
}

std::size_t element_end(std::string_view html, std::size_t at, std::string_view name)
{
    for (auto close = html.find("</", at); close != std::string_view::npos;
         close = html.find("</", close + 2))
        if (equals_ignoring_ascii_case(html.substr(close + 2, name.size()), name))
            return markup_end(html, close);
    return html.size();
}

} // namespace tempinbox::html
