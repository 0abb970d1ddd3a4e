#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tempinbox::html {

// The styles of a page's elements: equal tags in elements of an equal style have an equal style, so
// it is worked out once. Styles are numbered; equal ones share a number, so that elements nested in
// their like are found again. Bounded: what finds no room is worked out each time.
template <class Style, class Hash>
class style_memory
{
public:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_styles = 2'048;
    static constexpr std::size_t max_tags = 4'096;

    // The number of the style of such a tag in an element of that style; `none` if it is not held.
    std::size_t find(std::size_t parent, std::string_view tag) const
    {
        const auto held = by_tag_.find(position{parent, tag});
        return held == by_tag_.end() ? none : held->second;
    }

    // The tag outlives this. Returns the number of its style; `none` without room.
    std::size_t add(std::size_t parent, std::string_view tag, const Style& style)
    {
        const auto number = number_of(style);
        if (parent != none && number != none && by_tag_.size() < max_tags)
            by_tag_.emplace(position{parent, tag}, number);
        return number;
    }

    const Style& operator[](std::size_t number) const { return *styles_[number]; }

private:
    using position = std::pair<std::size_t, std::string_view>; // number of the parent's style, tag

    std::size_t number_of(const Style& style)
    {
        if (const auto held = numbers_.find(style); held != numbers_.end())
            return held->second;
        if (styles_.size() == max_styles)
            return none;
        const auto added = numbers_.emplace(style, styles_.size()).first;
        styles_.push_back(&added->first);
        return added->second;
    }

    std::map<position, std::size_t> by_tag_; // ordered, since a mail could make hashes collide
    std::unordered_map<Style, std::size_t, Hash> numbers_;
    std::vector<const Style*> styles_; // keys of the map, which do not move
};

} // namespace tempinbox::html
