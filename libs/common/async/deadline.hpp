#pragma once

#include <algorithm>
#include <chrono>

namespace tempinbox::async {

// The moment by which something must have happened, on the steady clock. Made once and passed on,
// so that the steps of one operation share its time.
class deadline
{
public:
    using clock = std::chrono::steady_clock;

    // Implicit: a point of the steady clock is a deadline.
    constexpr deadline(clock::time_point at) : at_(at) {}
    static deadline after(clock::duration timeout)
    {
        const auto now = clock::now();
        return timeout >= clock::time_point::max() - now ? never() : deadline(now + timeout);
    }
    static constexpr deadline never() { return {clock::time_point::max()}; }

    constexpr clock::time_point at() const { return at_; }
    bool has_passed() const { return clock::now() >= at_; }
    // Zero once it has passed.
    clock::duration remaining() const
    {
        return std::max(at_ - clock::now(), clock::duration::zero());
    }

    friend constexpr auto operator<=>(const deadline&, const deadline&) = default;

private:
    clock::time_point at_;
};

} // namespace tempinbox::async
