#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tempinbox::gateway::mcp {

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

// What a block, or all that holds for an element, declares: of each property the last, unless an
// earlier one is important. It views normalized CSS, which outlives it.
class declarations
{
public:
    // The text of a `style` attribute or of a rule's block.
    static declarations parse(std::string_view css);
    // Of what comes later in the cascade. Takes the same time for any.
    void apply(const declarations& later);
    // Empty if there is none.
    std::string_view find(property name) const { return at(name).value; }

private:
    struct declared
    {
        std::string_view value;
        bool is_important = false;
    };

    const declared& at(property name) const { return all_[static_cast<std::size_t>(name)]; }

    std::array<declared, static_cast<std::size_t>(property::count)> all_;
};

// The rules of the `<style>` elements of a mail. A rule is found by the last part of its selector
// (a name, a class or an id): what comes before is not looked at, nor are rules for narrow screens
// and print.
class style_sheet
{
public:
    style_sheet() = default;
    style_sheet(const style_sheet&) = delete;
    style_sheet& operator=(const style_sheet&) = delete;

    void add(std::string_view css);
    // What the rules say of an element: one look-up for its name, its id and each of its classes.
    declarations find(std::string_view tag, std::string_view id, std::string_view classes) const;

private:
    void add_rules(std::string_view rest, bool is_outermost);
    void add_rule(std::string_view selectors, std::string_view block);
    void apply_to(declarations& found, const std::string& key) const;

    std::deque<std::string> texts_; // do not move
    // Of "p", ".note" or "#note", all rules in one.
    std::unordered_map<std::string, declarations> by_key_;
};

} // namespace tempinbox::gateway::mcp
