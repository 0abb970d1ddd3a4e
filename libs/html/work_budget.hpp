#pragma once

#include <algorithm>
#include <cstddef>

namespace tempinbox::html {

// Work that one page may take. Steps are counted, not timed, so that a page shows the same on every
// machine at every load.
class work_budget
{
public:
    explicit work_budget(std::size_t steps) : max_(steps) {}

    void take(std::size_t steps) { used_ += std::min(steps, max_ - used_); }
    bool is_spent() const { return used_ == max_; }
    std::size_t used() const { return used_; }

private:
    std::size_t max_;
    std::size_t used_ = 0;
};

} // namespace tempinbox::html
