#pragma once

#include <cstddef>
#include <memory>

namespace tempinbox {

// A bound on the memory that large objects share: each reserves its bytes before it is created and
// frees them when its reservation is destroyed, which may outlive the budget. Used on one thread. A
// single object may exceed the whole budget.
class memory_budget
{
public:
    explicit memory_budget(std::size_t max_bytes)
        : max_bytes_(max_bytes),
          used_(std::make_shared<std::size_t>(0))
    {}

    using reservation = std::shared_ptr<const void>;

    // Null if there is no room.
    reservation try_reserve(std::size_t bytes)
    {
        if (*used_ > 0 && *used_ + bytes > max_bytes_)
            return nullptr;
        *used_ += bytes;
        return reservation(used_.get(), [used = used_, bytes](const void*) { *used -= bytes; });
    }

    std::size_t used() const { return *used_; }

private:
    std::size_t max_bytes_;
    std::shared_ptr<std::size_t> used_;
};

} // namespace tempinbox
