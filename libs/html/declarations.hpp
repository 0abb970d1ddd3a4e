#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::html {

// As much of CSS as says whether text is seen. Accepts any bytes; linear.

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

} // namespace tempinbox::html
