#pragma once

#include "html/selector.hpp"
#include "html/work_budget.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tempinbox::html {

// As much of CSS as says whether text is seen. Accepts any bytes; linear.

// `12.5px`: a number and what stands behind it.
struct quantity
{
    double number = 0;
    std::string_view unit;
};

std::optional<quantity> parse_quantity(std::string_view text);

struct color
{
    std::uint8_t red = 0, green = 0, blue = 0;
    bool is_transparent = false;

    bool operator==(const color&) const = default;
};

// Hexadecimal, rgb(), hsl(), hwb() and names; absent for all else.
std::optional<color> parse_color(std::string_view text);

// Whether a person could not tell one from the other.
bool look_alike(const color& a, const color& b);

// All that is looked at, in the order of the table of their names.
enum class property : std::uint8_t {
    background,
    background_color,
    background_image,
    bottom,
    clip,
    clip_path,
    color,
    content_visibility,
    display,
    font,
    font_size,
    height,
    left,
    margin_left,
    margin_top,
    max_height,
    max_width,
    mso_hide,
    opacity,
    overflow,
    position,
    right,
    text_indent,
    top,
    transform,
    visibility,
    width,
    count
};

// As it is compared: without comments, in lower case.
std::string normalize_css(std::string_view css);

// What a block, or all that holds for an element, declares: of each property what the cascade
// leaves. It views normalized CSS, which outlives it.
class declarations
{
public:
    // The text of a `style` attribute or of a rule's block.
    static declarations parse(std::string_view css);
    bool is_empty() const { return declared_.none(); }
    std::size_t size() const { return declared_.count(); }
    // Of a rule: by specificity, then by order. Without it the rank is the highest, which is that
    // of a `style` attribute.
    void set_rank(std::uint32_t rank);
    // Leaves of each property what is important, or else what has the higher rank; of equals, the
    // other's. Takes time for what the other declares alone.
    void apply(const declarations& other);
    // Empty if there is none.
    std::string_view find(property name) const { return at(name).value; }

private:
    struct declared
    {
        std::string_view value;
        std::uint32_t rank = 0;
        bool is_important = false;

        bool gives_way_to(const declared& other) const;
    };

    static constexpr auto max_size = static_cast<std::size_t>(property::count);

    const declared& at(property name) const { return all_[static_cast<std::size_t>(name)]; }

    std::array<declared, max_size> all_;
    std::bitset<max_size> declared_; // which of them are
};

// Far more than any mail has. It bounds what an open element takes.
inline constexpr std::size_t max_steps = 256;

// Which beginnings of selectors an element meets: what stands in it can meet what follows.
struct met_steps
{
    std::bitset<max_steps> own;
    std::bitset<max_steps> all; // it, or what it stands in

    bool operator==(const met_steps&) const = default;
};

struct found_style
{
    declarations css;
    met_steps met;
};

// The rules of the `<style>` elements of a mail whose selectors are of names, classes, ids,
// descendants and children. Others hide nothing: those for neighbors, attributes and states are
// mostly for one mail program, and those for narrow screens and print are for none of these. Each
// rule that is read, tried or applied takes of the budget; once that is spent no more are.
class style_sheet
{
public:
    // The budget outlives it.
    explicit style_sheet(work_budget& budget) : budget_(budget) {}
    style_sheet(const style_sheet&) = delete;
    style_sheet& operator=(const style_sheet&) = delete;

    void add(std::string_view css);
    // What the rules say of an element in another: a look-up for its name, its id and each of its
    // classes, and for each of these a bounded number of rules.
    found_style find(std::string_view tag, std::string_view id, std::string_view classes,
                     const met_steps& parent) const;

private:
    static constexpr std::size_t no_step = std::numeric_limits<std::size_t>::max();

    // A selector up to one of its parts; selectors that begin alike share it.
    struct step
    {
        compound asks;
        std::size_t before = no_step;
        bool is_child = false;
        declarations css; // of the rules that end with it
    };
    struct keyed
    {
        declarations css; // of the rules that ask for the key alone
        std::vector<std::size_t> steps;
    };

    void add_rules(std::string_view rest, bool is_outermost);
    void add_rule(std::string_view selectors, std::string_view block);
    declarations* place_of(const std::vector<selector_part>& parts);
    keyed* find_keyed(const compound& asks);
    void look_up(const std::string& key, const compound& element, const met_steps& parent,
                 found_style& found) const;
    void apply(const declarations& css, found_style& found) const;

    work_budget& budget_;
    std::deque<std::string> texts_; // do not move
    std::vector<step> steps_;
    std::unordered_map<std::string, std::size_t> step_names_; // by the step before and the text
    std::map<std::string, keyed> by_key_; // ordered, since a mail could make hashes collide
    std::uint32_t rules_ = 0;
};

} // namespace tempinbox::html
