#pragma once

#include "common/core/awaitable.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>

namespace tempinbox::runtime {

// One moment that any number of coroutines of the loop wait for, each no longer than the deadline
// set when it was made. For one that brings its own deadline: completion.
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

    // False when the deadline passed first.
    awaitable<bool> wait();

private:
    boost::asio::steady_timer timer_;
    bool is_reached_ = false;
};

} // namespace tempinbox::runtime
