#include "html/style_sheet.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::html {
namespace {

// Far more than any mail has. What is past it is not looked at.
constexpr std::size_t max_keys = 10'000;
// Of those that one key finds: they are gone through for each element that has it.
constexpr std::size_t max_steps_of_key = 32;

// Steps of the budget, in about the shares that the work has of the time; to try a rule is one.
constexpr std::size_t steps_of_rule = 16; // and of each part of a selector, to read it
constexpr std::size_t steps_of_look_up = 4;
constexpr std::size_t steps_of_property = 1;

// In a rank the order of the rules stands below the specificity of their selectors.
constexpr int order_bits = 20;

// The index past the block that begins with `{` at `at`.
std::size_t block_end(std::string_view css, std::size_t at)
{
    int depth = 0;
    for (; at < css.size(); ++at) {
        if (css[at] == '{')
            ++depth;
        if (css[at] == '}' && --depth == 0)
            return at + 1;
    }
    return css.size();
}

bool is_for_every_screen(std::string_view media)
{
    return media.find("width") == std::string_view::npos &&
           media.find("print") == std::string_view::npos &&
           media.find("prefers") == std::string_view::npos;
}

} // namespace

void style_sheet::add(std::string_view css)
{
    // The marks of a comment of HTML mean nothing around rules, as browsers read them.
    const auto bare = replace_all(replace_all(normalize_css(css), "<!--", " "), "-->", " ");
    add_rules(texts_.emplace_back(bare), true);
}

// Of rules within rules the outer ones alone are looked into.
void style_sheet::add_rules(std::string_view rest, bool is_outermost)
{
    while (!rest.empty() && !budget_.is_spent()) {
        const auto open = rest.find_first_of("{;");
        if (open == std::string_view::npos)
            return;
        const auto prelude = trim(rest.substr(0, open));
        if (rest[open] == ';') { // @import, @charset
            rest.remove_prefix(open + 1);
            continue;
        }
        const auto end = block_end(rest, open);
        const auto block = rest.substr(open + 1, end - open - 1);
        if (!prelude.starts_with('@'))
            add_rule(prelude, block.substr(0, block.rfind('}')));
        else if (is_outermost && prelude.starts_with("@media") && is_for_every_screen(prelude))
            add_rules(block.substr(0, block.rfind('}')), false);
        rest.remove_prefix(end);
    }
}

void style_sheet::add_rule(std::string_view selectors, std::string_view block)
{
    auto declared = declarations::parse(block);
    budget_.take(steps_of_rule);
    if (declared.is_empty())
        return;
    while (!selectors.empty() && !budget_.is_spent()) {
        const auto selector = selectors.substr(0, selectors.find(','));
        selectors.remove_prefix(std::min(selector.size() + 1, selectors.size()));
        const auto parts = parse_selector(selector);
        budget_.take(steps_of_rule * (parts.size() + 1));
        if (parts.empty())
            continue;
        const auto order = std::min<std::uint32_t>(++rules_, (1U << order_bits) - 1);
        declared.set_rank(specificity(parts) << order_bits | order);
        if (auto* const held = find_declarations(parts))
            held->apply(declared);
    }
}

// Where all rules of a selector are held as one; nowhere if there are too many. Those of a selector
// that is a key alone cost an element one look-up, so they have a bound of their own.
declarations* style_sheet::find_declarations(const std::vector<selector_part>& parts)
{
    if (parts.size() == 1 && parts.front().condition.is_key_alone()) {
        auto* const key = find_keyed(parts.front().condition);
        return key ? &key->css : nullptr;
    }
    std::size_t before = no_step;
    for (const auto& part : parts) {
        auto name = std::to_string(before) + (part.is_child ? '>' : ' ');
        name += part.condition.text;
        const auto known = step_names_.find(name);
        if (known != step_names_.end()) {
            before = known->second;
            continue;
        }
        auto* const key = steps_.size() < max_steps ? find_keyed(part.condition) : nullptr;
        if (!key || key->steps.size() == max_steps_of_key)
            return nullptr;
        key->steps.push_back(steps_.size());
        step_names_.emplace(std::move(name), steps_.size());
        steps_.push_back({part.condition, before, part.is_child, {}});
        before = steps_.size() - 1;
    }
    return &steps_[before].css;
}

style_sheet::keyed* style_sheet::find_keyed(const compound& condition)
{
    auto key = condition.key();
    if (by_key_.size() >= max_keys && !by_key_.contains(key))
        return nullptr;
    return &by_key_[std::move(key)];
}

void style_sheet::look_up(const std::string& key, const compound& element, const met_steps& parent,
                          matched_rules& matched) const
{
    budget_.take(steps_of_look_up);
    const auto held = by_key_.find(key);
    if (held == by_key_.end())
        return;
    apply(held->second.css, matched);
    budget_.take(held->second.steps.size());
    for (const auto index : held->second.steps) {
        const auto& candidate = steps_[index];
        const bool stands_right =
            candidate.before == no_step ||
            (candidate.is_child ? parent.own : parent.all).test(candidate.before);
        if (!stands_right || !candidate.condition.is_met_by(element))
            continue;
        matched.met.own.set(index);
        apply(candidate.css, matched);
    }
}

void style_sheet::apply(const declarations& css, matched_rules& matched) const
{
    budget_.take(css.size() * steps_of_property);
    matched.css.apply(css);
}

matched_rules style_sheet::find(std::string_view tag, std::string_view id, std::string_view classes,
                                const met_steps& parent) const
{
    matched_rules matched;
    if (by_key_.empty())
        return matched;
    const auto id_name = to_lower_ascii(id), class_names = to_lower_ascii(classes);
    const compound element{{}, tag, id_name, split_classes(class_names)};
    look_up("*", element, parent, matched);
    look_up(std::string(tag), element, parent, matched);
    for (const auto name : element.classes)
        if (!budget_.is_spent())
            look_up("." + std::string(name), element, parent, matched);
    if (!id.empty())
        look_up("#" + id_name, element, parent, matched);
    matched.met.all = parent.all | matched.met.own;
    return matched;
}

} // namespace tempinbox::html
