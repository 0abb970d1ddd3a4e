#include "common/async/reset_event.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::async {

// One timer a waiter, since asio ends all waits of a timer whose time is changed.
struct reset_event::waiter : hook
{
    boost::asio::steady_timer timer;
    bool is_woken = false;

    waiter(const boost::asio::any_io_executor& executor, deadline until)
        : timer(executor, until.at())
    {}
};

reset_event::reset_event(boost::asio::any_io_executor executor, mode chosen)
    : executor_(std::move(executor)),
      mode_(chosen)
{}

reset_event::~reset_event()
{
    while (!waiters_.empty())
        wake_first(false);
}

void reset_event::set()
{
    if (mode_ == mode::automatic) {
        is_set_ = waiters_.empty();
        if (!is_set_)
            wake_first(true);
        return;
    }
    is_set_ = true;
    while (!waiters_.empty())
        wake_first(true);
}

void reset_event::wake_first(bool is_set)
{
    auto& first = static_cast<waiter&>(waiters_.front());
    waiters_.pop_front();
    first.is_woken = is_set;
    first.timer.cancel();
}

awaitable<void> reset_event::wait()
{
    co_await wait_until(deadline::never());
}

awaitable<bool> reset_event::wait_until(deadline until)
{
    if (is_set_) {
        is_set_ = mode_ == mode::manual;
        co_return true;
    }
    waiter mine(executor_, until);
    waiters_.push_back(mine);
    // The event may be gone when this returns: only `mine` is read.
    co_await mine.timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return mine.is_woken;
}

} // namespace tempinbox::async
