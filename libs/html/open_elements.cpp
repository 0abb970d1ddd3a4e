#include "html/open_elements.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tempinbox::html {

void open_elements::push_permanent(open_element element)
{
    elements_.push_back(std::move(element));
    ++permanent_;
}

void open_elements::push(open_element element)
{
    ++counts_[element.name];
    elements_.push_back(std::move(element));
}

std::string open_elements::pop()
{
    auto name = std::move(elements_.back().name);
    elements_.pop_back();
    --counts_[name];
    return name;
}

void open_elements::erase_last(const std::string& name)
{
    const auto last = std::find_if(elements_.rbegin(), elements_.rend(),
                                   [&name](const auto& element) { return element.name == name; });
    elements_.erase(std::next(last).base());
    --counts_[name];
}

bool open_elements::contains(const std::string& name) const
{
    const auto count = counts_.find(name);
    return count != counts_.end() && count->second > 0;
}

} // namespace tempinbox::html
