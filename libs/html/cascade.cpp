#include "html/cascade.hpp"

#include "html/tags.hpp"

#include <bitset>
#include <functional>

namespace tempinbox::html {
namespace {

constexpr std::size_t max_style_bytes = 256 * 1024;
// In about the share that the work has of the time.
constexpr std::size_t steps_of_style = 60;
constexpr std::size_t steps_of_search = 2; // for a style sheet, at each `<` of the page
constexpr std::size_t searched_bytes_in_step = 16;
constexpr std::size_t large_tag_bytes = 512;
constexpr std::size_t steps_of_separator = 2; // of attributes in a large tag

} // namespace

std::size_t inherited_style_hash::operator()(const inherited_style& style) const
{
    const std::hash<std::bitset<max_steps>> hash_of;
    const auto& [is_gone, is_hidden, is_tiny, text, is_text_known, background,
                 is_background_known] = style.shown;
    auto hash = hash_of(style.met.all);
    const auto add = [&hash](std::size_t value) { hash = hash * 1'000'003 + value; };
    add(hash_of(style.met.own));
    for (const auto& each : {text, background})
        for (const std::size_t part : {std::size_t{each.red}, std::size_t{each.green},
                                       std::size_t{each.blue}, std::size_t{each.is_transparent}})
            add(part);
    for (const bool part : {is_gone, is_hidden, is_tiny, is_text_known, is_background_known})
        add(part ? 1 : 0);
    return hash;
}

void cascade::read_style_sheets(std::string_view html)
{
    std::size_t total = 0;
    for (std::size_t at = html.find('<');
         at != std::string_view::npos && at < html.size() && !budget_.is_spent();
         at = html.find('<', at)) {
        budget_.take(steps_of_search);
        if (!is_markup_at(html, at)) {
            ++at;
            continue;
        }
        const auto end = markup_end(html, at);
        const auto tag = html.substr(at, end - at);
        budget_.take(tag.size() / searched_bytes_in_step);
        if (tag.size() > large_tag_bytes)
            budget_.take(steps_of_separator * count_separators(tag));
        at = end;
        if (tag_name(tag) != "style" || tag.starts_with("</"))
            continue;
        at = element_end(html, end, "style");
        const auto content = html.substr(end, at - end);
        if (total + content.size() <= max_style_bytes)
            sheet_.add(content.substr(0, content.rfind("</")));
        total += content.size();
    }
}

cascade::style cascade::root()
{
    return {{}, memory_.add(memory::none, {}, {})};
}

cascade::style cascade::style_in(const style& parent, std::string_view name, std::string_view tag)
{
    if (const auto held = memory_.find(parent.number, tag); held != memory::none)
        return {memory_[held], held};
    const auto computed = compute(parent.inherited, name, tag);
    return {computed, memory_.add(parent.number, tag, computed)};
}

inherited_style cascade::compute(const inherited_style& parent, std::string_view name,
                                 std::string_view tag)
{
    budget_.take(steps_of_style);
    auto [css, met] = sheet_.find(name, find_attribute(tag, "id").value_or(""),
                                  find_attribute(tag, "class").value_or(""), parent.met);
    const auto style_attribute = normalize_css(find_attribute(tag, "style").value_or(""));
    css.apply(declarations::parse(style_attribute));
    return {look_in(parent.shown, name, tag, css), met};
}

} // namespace tempinbox::html
