#include "html/selector.hpp"

#include <algorithm>
#include <optional>

namespace tempinbox::html {
namespace {

// Bounds what one element costs. No selector of a mail has as many.
constexpr std::size_t max_parts = 8;
constexpr std::size_t max_classes = 8; // of a part

constexpr std::string_view blanks = " \t\r\n\f";

void sort_once(std::vector<std::string_view>& names)
{
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
}

void skip_blanks(std::string_view& rest)
{
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
}

std::optional<compound> parse_compound(std::string_view text)
{
    constexpr std::string_view marks = ".#", unknown = ":[]+~|&()\\";
    if (text.empty() || text.find_first_of(unknown) != std::string_view::npos)
        return std::nullopt;
    compound parsed;
    parsed.text = text;
    auto mark = std::min(text.find_first_of(marks), text.size());
    parsed.tag = text.substr(0, mark);
    if (parsed.tag == "*")
        parsed.tag = {};
    while (mark < text.size()) {
        const auto end = std::min(text.find_first_of(marks, mark + 1), text.size());
        const auto name = text.substr(mark + 1, end - mark - 1);
        if (name.empty() || parsed.classes.size() == max_classes)
            return std::nullopt;
        if (text[mark] == '.')
            parsed.classes.push_back(name);
        else if (parsed.id.empty() || parsed.id == name)
            parsed.id = name;
        else
            return std::nullopt; // no element has two
        mark = end;
    }
    sort_once(parsed.classes);
    return parsed;
}

} // namespace

bool compound::is_met_by(const compound& element) const
{
    const auto has_class = [&element](std::string_view name) {
        return std::binary_search(element.classes.begin(), element.classes.end(), name);
    };
    return (tag.empty() || tag == element.tag) && (id.empty() || id == element.id) &&
           std::all_of(classes.begin(), classes.end(), has_class);
}

std::string compound::key() const
{
    if (!id.empty())
        return "#" + std::string(id);
    if (!classes.empty())
        return "." + std::string(classes.front());
    return tag.empty() ? "*" : std::string(tag);
}

bool compound::is_key_alone() const
{
    return (tag.empty() ? 0U : 1U) + (id.empty() ? 0U : 1U) + classes.size() <= 1;
}

std::vector<selector_part> parse_selector(std::string_view selector)
{
    constexpr std::string_view ends = " \t\r\n\f>";
    std::vector<selector_part> parts;
    bool is_child = false;
    for (skip_blanks(selector); !selector.empty(); skip_blanks(selector)) {
        if (selector.front() == '>') {
            if (is_child || parts.empty())
                return {};
            is_child = true;
            selector.remove_prefix(1);
            continue;
        }
        const auto text = selector.substr(0, selector.find_first_of(ends));
        auto condition = parse_compound(text);
        if (!condition || parts.size() == max_parts)
            return {};
        parts.push_back({std::move(*condition), is_child});
        is_child = false;
        selector.remove_prefix(text.size());
    }
    return is_child ? std::vector<selector_part>() : parts;
}

std::uint32_t specificity(const std::vector<selector_part>& selector)
{
    std::size_t ids = 0, classes = 0, tags = 0;
    for (const auto& part : selector) {
        ids += part.condition.id.empty() ? 0 : 1;
        classes += part.condition.classes.size();
        tags += part.condition.tag.empty() ? 0 : 1;
    }
    // In two bits, six and four.
    const auto sum = std::min<std::size_t>(ids, 3) << 10 | std::min<std::size_t>(classes, 63) << 4 |
                     std::min<std::size_t>(tags, 15);
    return static_cast<std::uint32_t>(sum);
}

std::vector<std::string_view> split_classes(std::string_view classes)
{
    std::vector<std::string_view> names;
    for (skip_blanks(classes); !classes.empty(); skip_blanks(classes)) {
        const auto name = classes.substr(0, classes.find_first_of(blanks));
        names.push_back(name);
        classes.remove_prefix(name.size());
    }
    sort_once(names);
    return names;
}

} // namespace tempinbox::html
