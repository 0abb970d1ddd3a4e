#pragma once

#include <cstddef>
#include <memory>

namespace tempinbox {

// Memory that large things share: each takes its bytes before it is made and gives them back when
// its hold is destroyed, which may outlive the budget. Used on one thread. One thing alone may be
// larger than the whole.
class byte_budget
{
public:
    explicit byte_budget(std::size_t most) : most_(most), used_(std::make_shared<std::size_t>(0)) {}

    using hold = std::shared_ptr<const void>;

    // Null when there is no room.
    hold try_take(std::size_t bytes)
    {
        if (*used_ > 0 && *used_ + bytes > most_)
            return nullptr;
        *used_ += bytes;
        return hold(used_.get(), [used = used_, bytes](const void*) { *used -= bytes; });
    }

    std::size_t used() const { return *used_; }

private:
    std::size_t most_;
    std::shared_ptr<std::size_t> used_;
};

} // namespace tempinbox
