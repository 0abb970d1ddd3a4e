#pragma once

#include "common/core/awaitable.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>

namespace tempinbox::runtime {

// A moment that any number of coroutines of the loop wait for, each no longer than the timeout set
// at construction. For a waiter with its own deadline use completion.
class wait_point
{
public:
    wait_point(const boost::asio::any_io_executor& executor, std::chrono::milliseconds timeout)
        : timer_(executor)
    {
        timer_.expires_after(timeout);
    }

    void reach()
    {
        is_reached_ = true;
        timer_.cancel();
    }
    bool is_reached() const { return is_reached_; }

    // False if the deadline passed first.
    awaitable<bool> wait();

private:
    boost::asio::steady_timer timer_;
    bool is_reached_ = false;
};

} // namespace tempinbox::runtime
