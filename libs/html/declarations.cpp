#include "html/declarations.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tempinbox::html {
namespace {

// The rest of a longer value is not looked at, so that each element costs the same.
constexpr std::size_t max_value_bytes = 256;

constexpr auto property_count = static_cast<std::size_t>(property::count);

// In the order of `property`.
constexpr std::array<std::string_view, property_count> property_names{"background",
                                                                      "background-color",
                                                                      "background-image",
                                                                      "bottom",
                                                                      "clip",
                                                                      "clip-path",
                                                                      "color",
                                                                      "content-visibility",
                                                                      "display",
                                                                      "font",
                                                                      "font-size",
                                                                      "height",
                                                                      "left",
                                                                      "margin-left",
                                                                      "margin-top",
                                                                      "max-height",
                                                                      "max-width",
                                                                      "mso-hide",
                                                                      "opacity",
                                                                      "overflow",
                                                                      "position",
                                                                      "right",
                                                                      "text-indent",
                                                                      "top",
                                                                      "transform",
                                                                      "visibility",
                                                                      "width"};

std::string without_comments(std::string_view css)
{
    std::string kept;
    for (;;) {
        const auto begin = css.find("/*");
        kept.append(css.substr(0, begin));
        if (begin == std::string_view::npos)
            return kept;
        const auto end = css.find("*/", begin + 2);
        if (end == std::string_view::npos)
            return kept;
        css.remove_prefix(end + 2);
    }
}

} // namespace

std::string normalize_css(std::string_view css)
{
    return to_lower_ascii(without_comments(css));
}

bool declarations::declared::gives_way_to(const declared& other) const
{
    if (other.is_important != is_important)
        return other.is_important;
    return other.rank >= rank;
}

declarations declarations::parse(std::string_view css)
{
    declarations parsed;
    while (!css.empty()) {
        const auto declaration = css.substr(0, css.find(';'));
        css.remove_prefix(std::min(declaration.size() + 1, css.size()));
        const auto colon = std::min(declaration.find(':'), declaration.size());
        const auto* const name = std::find(property_names.begin(), property_names.end(),
                                           trim(declaration.substr(0, colon)));
        if (colon == declaration.size() || name == property_names.end())
            continue;
        auto value = declaration.substr(colon + 1);
        declared latest;
        latest.rank = std::numeric_limits<std::uint32_t>::max();
        if (const auto mark = value.find('!'); mark != std::string_view::npos) {
            latest.is_important = value.find("important", mark) != std::string_view::npos;
            value = value.substr(0, mark);
        }
        latest.value = trim(trim(value).substr(0, max_value_bytes));
        const auto index = static_cast<std::size_t>(name - property_names.begin());
        if (latest.value.empty() || !parsed.all_[index].gives_way_to(latest))
            continue;
        parsed.all_[index] = latest;
        parsed.declared_.set(index);
    }
    return parsed;
}

void declarations::set_rank(std::uint32_t rank)
{
    for (auto& value : all_)
        value.rank = rank;
}

void declarations::apply(const declarations& other)
{
    // Most declare few of them, and this runs for each rule of each element.
    for (auto rest = other.declared_.to_ulong(); rest != 0; rest &= rest - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(rest));
        if (all_[i].gives_way_to(other.all_[i]))
            all_[i] = other.all_[i];
    }
    declared_ |= other.declared_;
}

} // namespace tempinbox::html
