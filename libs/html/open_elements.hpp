#pragma once

#include "html/cascade.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tempinbox::html {

struct open_element
{
    std::string name;
    cascade::style style;
};

// The elements that are open at a point of a page, each in the one before it.
class open_elements
{
public:
    // No end tag closes what is pushed so.
    void push_permanent(open_element element);
    void push(open_element element);
    // Returns the name of what is closed by it.
    std::string pop();
    // Takes out the last of that name; what stands in it stays open.
    void erase_last(const std::string& name);

    const open_element& last() const { return elements_.back(); }
    bool has_only_permanent() const { return elements_.size() == permanent_; }
    // Not counting those that are permanent. Takes a look-up, however many are open.
    bool contains(const std::string& name) const;

private:
    std::vector<open_element> elements_;
    std::size_t permanent_ = 0;
    std::map<std::string, std::size_t> counts_; // by name
};

} // namespace tempinbox::html
