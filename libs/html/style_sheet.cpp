#include "html/style_sheet.hpp"

#include "common/core/text.hpp"
#include "html/color_names.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace tempinbox::html {
namespace {

// Far more than any mail has. What is past it is not looked at.
constexpr std::size_t max_keys = 10'000;
// Of those that one key finds: they are gone through for each element that has it.
constexpr std::size_t max_steps_of_key = 32;
// The rest of a longer value is not looked at, so that each element costs the same.
constexpr std::size_t max_value_bytes = 256;
constexpr int look_alike_distance = 24; // of a channel

// Steps of the budget, in about the shares that the work has of the time; to try a rule is one.
constexpr std::size_t steps_of_rule = 8; // and of each part of a selector, to read it
constexpr std::size_t steps_of_look_up = 4;
constexpr std::size_t steps_of_property = 1;

// In a rank the order of the rules stands below the specificity of their selectors.
constexpr int order_bits = 20;

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

std::optional<color> parse_hex(std::string_view digits)
{
    std::array<unsigned, 8> values{};
    if (digits.size() != 3 && digits.size() != 4 && digits.size() != 6 && digits.size() != 8)
        return std::nullopt;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const auto read = std::from_chars(&digits[i], &digits[i] + 1, values[i], 16);
        if (read.ec != std::errc())
            return std::nullopt;
    }
    const bool is_short = digits.size() < 6;
    const auto channel = [&](std::size_t i) {
        const auto value = is_short ? values[i] * 17 : values[2 * i] * 16 + values[2 * i + 1];
        return static_cast<std::uint8_t>(value);
    };
    color read{channel(0), channel(1), channel(2)};
    read.is_transparent =
        (digits.size() == 4 || digits.size() == 8) && channel(3) < look_alike_distance;
    return read;
}

// `255`, `100%`, `0.5`: a share of `whole`, not outside it.
std::optional<double> parse_share(std::string_view text, double whole)
{
    const auto read = parse_quantity(text);
    if (!read || !std::isfinite(read->number))
        return std::nullopt;
    const double number = read->unit == "%" ? read->number * whole / 100 : read->number;
    return std::clamp(number, 0.0, whole);
}

// `120`, `120deg`, `0.3turn`, `2rad`, `130grad`: in degrees from 0 to 360.
std::optional<double> parse_hue(std::string_view text)
{
    const auto read = parse_quantity(text);
    if (!read || !std::isfinite(read->number))
        return std::nullopt;
    const auto [number, unit] = *read;
    const double degrees = unit == "turn"   ? number * 360
                           : unit == "rad"  ? number * 57.29578
                           : unit == "grad" ? number * 0.9
                                            : number;
    const double rest = std::fmod(degrees, 360);
    return rest < 0 ? rest + 360 : rest;
}

std::uint8_t to_channel(double share)
{
    return static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * 255));
}

// CSS Color 4, 7.1 and 8.1: hsl() and hwb() are the pure hue, brought to a lightness or mixed with
// white and black.
color from_hsl(double hue, double saturation, double lightness)
{
    const auto channel = [&](double n) {
        const double k = std::fmod(n + hue / 30, 12);
        const double reach = saturation * std::min(lightness, 1 - lightness);
        return to_channel(lightness - reach * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0));
    };
    return {channel(0), channel(8), channel(4)};
}

color from_hwb(double hue, double white, double black)
{
    const double sum = std::max(white + black, 1.0);
    const auto pure = from_hsl(hue, 1, 0.5);
    const auto mixed = [&](std::uint8_t channel) {
        return to_channel(channel / 255.0 * (1 - (white + black) / sum) + white / sum);
    };
    return {mixed(pure.red), mixed(pure.green), mixed(pure.blue)};
}

// What stands between the brackets, at most five.
std::vector<std::string_view> split_arguments(std::string_view arguments)
{
    constexpr std::string_view separators = ", /)\n\t";
    std::vector<std::string_view> pieces;
    while (pieces.size() < 5) {
        arguments.remove_prefix(
            std::min(arguments.find_first_not_of(separators), arguments.size()));
        if (arguments.empty())
            break;
        const auto piece = arguments.substr(0, arguments.find_first_of(separators));
        pieces.push_back(piece);
        arguments.remove_prefix(piece.size());
    }
    return pieces;
}

std::optional<color> parse_function(std::string_view name, std::string_view arguments)
{
    const auto pieces = split_arguments(arguments);
    if (pieces.size() < 3 || pieces.size() > 4)
        return std::nullopt;
    const bool is_rgb = name == "rgb" || name == "rgba";
    const bool is_hsl = name == "hsl" || name == "hsla";
    if (!is_rgb && !is_hsl && name != "hwb")
        return std::nullopt;
    // Without their percent sign the shares of hsl() and hwb() are of 100.
    const double whole = is_rgb ? 255 : 100;
    const auto first = is_rgb ? parse_share(pieces[0], whole) : parse_hue(pieces[0]);
    const auto second = parse_share(pieces[1], whole), third = parse_share(pieces[2], whole);
    if (!first || !second || !third)
        return std::nullopt;
    auto read = is_rgb   ? color{to_channel(*first / 255), to_channel(*second / 255),
                               to_channel(*third / 255)}
                : is_hsl ? from_hsl(*first, *second / 100, *third / 100)
                         : from_hwb(*first, *second / 100, *third / 100);
    if (pieces.size() == 4)
        read.is_transparent = parse_share(pieces[3], 1).value_or(1) < 0.1;
    return read;
}

color from_rgb(std::uint32_t rgb)
{
    return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8 & 0xff),
            static_cast<std::uint8_t>(rgb & 0xff)};
}

int distance(std::uint8_t a, std::uint8_t b)
{
    return std::abs(static_cast<int>(a) - static_cast<int>(b));
}

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

bool is_for_every_screen(std::string_view media)
{
    return media.find("width") == std::string_view::npos &&
           media.find("print") == std::string_view::npos &&
           media.find("prefers") == std::string_view::npos;
}

} // namespace

std::optional<quantity> parse_quantity(std::string_view text)
{
    text = trim(text);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    quantity read;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read.number);
    if (error != std::errc())
        return std::nullopt;
    read.unit = text.substr(static_cast<std::size_t>(end - text.data()));
    return read;
}

std::optional<color> parse_color(std::string_view text)
{
    const auto value = to_lower_ascii(trim(text));
    if (value.starts_with('#'))
        return parse_hex(std::string_view(value).substr(1));
    if (const auto bracket = value.find('('); bracket != std::string::npos)
        return parse_function(std::string_view(value).substr(0, bracket),
                              std::string_view(value).substr(bracket + 1));
    if (value == "transparent")
        return color{0, 0, 0, true};
    const auto named = std::lower_bound(
        color_names.begin(), color_names.end(), std::string_view(value),
        [](const color_name& one, std::string_view wanted) { return one.name < wanted; });
    if (named == color_names.end() || named->name != value)
        return std::nullopt;
    return from_rgb(named->rgb);
}

bool look_alike(const color& a, const color& b)
{
    return distance(a.red, b.red) < look_alike_distance &&
           distance(a.green, b.green) < look_alike_distance &&
           distance(a.blue, b.blue) < look_alike_distance;
}

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
    declarations read;
    while (!css.empty()) {
        const auto one = css.substr(0, css.find(';'));
        css.remove_prefix(std::min(one.size() + 1, css.size()));
        const auto colon = std::min(one.find(':'), one.size());
        const auto* const name =
            std::find(property_names.begin(), property_names.end(), trim(one.substr(0, colon)));
        if (colon == one.size() || name == property_names.end())
            continue;
        auto value = one.substr(colon + 1);
        declared found;
        found.rank = std::numeric_limits<std::uint32_t>::max();
        if (const auto mark = value.find('!'); mark != std::string_view::npos) {
            found.is_important = value.find("important", mark) != std::string_view::npos;
            value = value.substr(0, mark);
        }
        found.value = trim(trim(value).substr(0, max_value_bytes));
        auto& held = read.all_[static_cast<std::size_t>(name - property_names.begin())];
        if (found.value.empty() || !held.gives_way_to(found))
            continue;
        held = found;
        read.declared_.set(static_cast<std::size_t>(name - property_names.begin()));
    }
    return read;
}

void declarations::set_rank(std::uint32_t rank)
{
    for (auto& one : all_)
        one.rank = rank;
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
        const auto one = selectors.substr(0, selectors.find(','));
        selectors.remove_prefix(std::min(one.size() + 1, selectors.size()));
        const auto parts = parse_selector(one);
        budget_.take(steps_of_rule * (parts.size() + 1));
        if (parts.empty())
            continue;
        const auto order = std::min<std::uint32_t>(++rules_, (1U << order_bits) - 1);
        declared.set_rank(specificity(parts) << order_bits | order);
        if (auto* const held = place_of(parts))
            held->apply(declared);
    }
}

// Where all rules of a selector are held as one; nowhere if there are too many. Those of a selector
// that is a key alone cost an element one look-up, so they have a bound of their own.
declarations* style_sheet::place_of(const std::vector<selector_part>& parts)
{
    if (parts.size() == 1 && parts.front().asks.is_key_alone()) {
        auto* const found = find_keyed(parts.front().asks);
        return found ? &found->css : nullptr;
    }
    std::size_t before = no_step;
    for (const auto& part : parts) {
        auto name = std::to_string(before) + (part.is_child ? '>' : ' ');
        name += part.asks.text;
        const auto known = step_names_.find(name);
        if (known != step_names_.end()) {
            before = known->second;
            continue;
        }
        auto* const found = steps_.size() < max_steps ? find_keyed(part.asks) : nullptr;
        if (!found || found->steps.size() == max_steps_of_key)
            return nullptr;
        found->steps.push_back(steps_.size());
        step_names_.emplace(std::move(name), steps_.size());
        steps_.push_back({part.asks, before, part.is_child, {}});
        before = steps_.size() - 1;
    }
    return &steps_[before].css;
}

style_sheet::keyed* style_sheet::find_keyed(const compound& asks)
{
    auto key = asks.key();
    if (by_key_.size() >= max_keys && !by_key_.contains(key))
        return nullptr;
    return &by_key_[std::move(key)];
}

void style_sheet::look_up(const std::string& key, const compound& element, const met_steps& parent,
                          found_style& found) const
{
    budget_.take(steps_of_look_up);
    const auto held = by_key_.find(key);
    if (held == by_key_.end())
        return;
    apply(held->second.css, found);
    budget_.take(held->second.steps.size());
    for (const auto index : held->second.steps) {
        const auto& one = steps_[index];
        const bool stands_right =
            one.before == no_step || (one.is_child ? parent.own : parent.all).test(one.before);
        if (!stands_right || !one.asks.is_met_by(element))
            continue;
        found.met.own.set(index);
        apply(one.css, found);
    }
}

void style_sheet::apply(const declarations& css, found_style& found) const
{
    budget_.take(css.size() * steps_of_property);
    found.css.apply(css);
}

found_style style_sheet::find(std::string_view tag, std::string_view id, std::string_view classes,
                              const met_steps& parent) const
{
    found_style found;
    if (by_key_.empty())
        return found;
    const auto id_name = to_lower_ascii(id), class_names = to_lower_ascii(classes);
    const compound element{{}, tag, id_name, split_classes(class_names)};
    look_up("*", element, parent, found);
    look_up(std::string(tag), element, parent, found);
    for (const auto name : element.classes)
        if (!budget_.is_spent())
            look_up("." + std::string(name), element, parent, found);
    if (!id.empty())
        look_up("#" + id_name, element, parent, found);
    found.met.all = parent.all | found.met.own;
    return found;
}

} // namespace tempinbox::html
