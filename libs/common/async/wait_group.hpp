#pragma once

#include "common/async/reset_event.hpp"

#include <cstddef>

namespace tempinbox::async {

// Waits until everything that was added is done; at once if nothing is. Used on one loop; whoever
// calls `done` keeps it alive, since a waiter may leave at its deadline.
class wait_group
{
public:
    explicit wait_group(boost::asio::any_io_executor executor, std::size_t count = 0);

    void add(std::size_t count = 1);
    // Once for each that was added.
    void done();
    std::size_t count() const { return count_; }

    awaitable<void> wait() { return all_done_.wait(); }
    // False if the deadline passed first.
    awaitable<bool> wait_until(deadline until) { return all_done_.wait_until(until); }

private:
    std::size_t count_;
    reset_event all_done_;
};

} // namespace tempinbox::async
