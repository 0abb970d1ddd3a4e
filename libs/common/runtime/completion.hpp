#pragma once

#include "common/core/awaitable.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace tempinbox::runtime {

// Something that one coroutine waits for until a deadline, and that others report as done. Used on
// the loop; both sides keep it alive.
class completion
{
public:
    explicit completion(const boost::asio::any_io_executor& executor) : timer_(executor) {}
    completion(const completion&) = delete;

    void set()
    {
        is_set_ = true;
        timer_.cancel();
    }

    bool is_set() const { return is_set_; }

    // False if the deadline passed first.
    awaitable<bool> wait_until(std::chrono::steady_clock::time_point deadline)
    {
        if (is_set_)
            co_return true;
        timer_.expires_at(deadline);
        co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        co_return is_set_;
    }

private:
    boost::asio::steady_timer timer_;
    bool is_set_ = false;
};

} // namespace tempinbox::runtime
