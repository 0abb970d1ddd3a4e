#include "extract/html_mask.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

// Past the element whose content is not shown; the end of the text where it is not closed.
std::size_t hidden_end(std::string_view html, std::size_t at, std::string_view name)
{
    for (auto close = html.find("</", at); close != std::string_view::npos; close = html.find("</", close + 2)) {
        if (!equals_ignoring_ascii_case(html.substr(close + 2, name.size()), name))
            continue;
        const auto end = html.find('>', close);
        return end == std::string_view::npos ? html.size() : end + 1;
    }
    return html.size();
}

bool starts_tag(std::string_view tag, std::string_view name)
{
    return equals_ignoring_ascii_case(tag.substr(0, name.size()), name) && tag.size() > name.size() &&
           std::string_view(" \t\r\n/>").find(tag[name.size()]) != std::string_view::npos;
}

constexpr std::string_view inline_tags[] = {"<b",  "<i",  "<em",  "<strong",  "<span",  "<font",  "<a",  "<u",  "<code",
                                            "</b", "</i", "</em", "</strong", "</span", "</font", "</a", "</u", "</code"};

} // namespace

std::string mask_html(std::string_view html)
{
    std::string masked(html);
    for (std::size_t at = html.find('<'); at != std::string_view::npos;) {
        std::size_t end = html.find('>', at);
        end = end == std::string_view::npos ? html.size() : end + 1;
        if (html.substr(at, 4) == "<!--") {
            const auto close = html.find("-->", at);
            end = close == std::string_view::npos ? html.size() : close + 3;
        }
        const auto tag = html.substr(at, end - at);
        for (const std::string_view hidden : {"script", "style", "title"})
            if (starts_tag(tag.substr(1), hidden))
                end = hidden_end(html, end, hidden);
        const bool is_inline = std::any_of(std::begin(inline_tags), std::end(inline_tags),
                                           [&](std::string_view name) { return starts_tag(tag, name); });
        std::fill(masked.begin() + static_cast<std::ptrdiff_t>(at), masked.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        if (!is_inline)
            masked[at] = '\n';
        at = html.find('<', end);
    }
    for (auto at = masked.find("&nbsp;"); at != std::string::npos; at = masked.find("&nbsp;", at))
        masked.replace(at, 6, 6, ' ');
    return masked;
}

} // namespace tempinbox::extract
