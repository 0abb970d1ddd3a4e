#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::html {

// What stands between two combinators of a selector, `td.note#total`; or what an element is. It
// views normalized text, which outlives it.
struct compound
{
    std::string_view text; // of a selector
    std::string_view tag;  // of a selector, empty: any; likewise the others
    std::string_view id;
    std::vector<std::string_view> classes; // sorted, each once

    bool is_met_by(const compound& element) const;
    // What an element that meets it is sure to have: "#total", ".note", "td" or "*".
    std::string key() const;
    // Whether the key is all that it asks.
    bool is_key_alone() const;
};

struct selector_part
{
    compound condition;
    bool is_child = false; // of what meets the part before it; else anywhere in it
};

// A selector of descendants and children. Empty if it asks what is not looked at (neighbors,
// attributes, states), or more than any mail does.
std::vector<selector_part> parse_selector(std::string_view selector);

// Compares as the cascade does: identifiers, then classes, then names. Less than 2^12.
std::uint32_t specificity(const std::vector<selector_part>& selector);

// The words of a `class` attribute, sorted, each once.
std::vector<std::string_view> split_classes(std::string_view classes);

} // namespace tempinbox::html
