#pragma once

#include "html/declarations.hpp"
#include "html/selector.hpp"
#include "html/work_budget.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tempinbox::html {

// Far more than any mail has. It bounds what an open element takes.
inline constexpr std::size_t max_steps = 256;

// Which beginnings of selectors an element meets: what stands in it can meet what follows.
struct met_steps
{
    std::bitset<max_steps> own;
    std::bitset<max_steps> all; // it, or what it stands in

    bool operator==(const met_steps&) const = default;
};

// What the rules say of an element.
struct matched_rules
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
    matched_rules find(std::string_view tag, std::string_view id, std::string_view classes,
                       const met_steps& parent) const;

private:
    static constexpr std::size_t no_step = std::numeric_limits<std::size_t>::max();

    // A selector up to one of its parts; selectors that begin alike share it.
    struct step
    {
        compound condition;
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
    declarations* find_declarations(const std::vector<selector_part>& parts);
    keyed* find_keyed(const compound& condition);
    void look_up(const std::string& key, const compound& element, const met_steps& parent,
                 matched_rules& matched) const;
    void apply(const declarations& css, matched_rules& matched) const;

    work_budget& budget_;
    std::deque<std::string> texts_; // do not move
    std::vector<step> steps_;
    std::unordered_map<std::string, std::size_t> step_names_; // by the step before and the text
    std::map<std::string, keyed> by_key_; // ordered, since a mail could make hashes collide
    std::uint32_t rules_ = 0;
};

} // namespace tempinbox::html
