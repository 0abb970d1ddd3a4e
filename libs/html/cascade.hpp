#pragma once

#include "html/look.hpp"
#include "html/style_memory.hpp"
#include "html/style_sheet.hpp"
#include "html/work_budget.hpp"

#include <cstddef>
#include <string_view>

namespace tempinbox::html {

// What the elements in an element take from it: its look, and the selectors that they can go on
// from.
struct inherited_style
{
    look shown;
    met_steps met;

    bool operator==(const inherited_style&) const = default;
};

struct inherited_style_hash
{
    std::size_t operator()(const inherited_style& style) const;
};

// The style of each element of a page: by its style sheets, its attributes and what it stands in
// (CSS Cascade 4, 6). A style that was worked out is remembered; to work one out takes of the
// budget.
class cascade
{
    using memory = style_memory<inherited_style, inherited_style_hash>;

public:
    struct style
    {
        inherited_style inherited;
        std::size_t number = memory::none; // under which it is remembered

        const look& shown() const { return inherited.shown; }
    };

    // The budget outlives it.
    explicit cascade(work_budget& budget) : budget_(budget), sheet_(budget) {}

    // Reads all `<style>` elements of the page: a rule may stand behind what it hides.
    void read_style_sheets(std::string_view html);

    // What the page itself stands in.
    style root();
    // Of an element that stands in another. The tag outlives the cascade.
    style style_in(const style& parent, std::string_view name, std::string_view tag);

private:
    inherited_style compute(const inherited_style& parent, std::string_view name,
                            std::string_view tag);

    work_budget& budget_;
    style_sheet sheet_;
    memory memory_;
};

} // namespace tempinbox::html
