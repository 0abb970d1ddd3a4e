#pragma once

#include "common/core/awaitable.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>

namespace tempinbox::webhooks {

// Lets one coroutine of the loop wait until another notifies it. A notification while nobody waits
// is kept for the next wait.
class wakeup
{
public:
    using time = std::chrono::steady_clock::time_point;

    explicit wakeup(boost::asio::any_io_executor executor) : timer_(executor) {}

    void notify();
    awaitable<void> wait(time until = time::max());

private:
    boost::asio::steady_timer timer_;
    bool is_notified_ = false;
};

} // namespace tempinbox::webhooks
