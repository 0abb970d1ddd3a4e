#include "webhook-dispatcher/delivery/wakeup.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::webhooks {

void wakeup::notify()
{
    is_notified_ = true;
    timer_.cancel();
}

awaitable<void> wakeup::wait(time until)
{
    if (!is_notified_) {
        timer_.expires_at(until);
        co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    is_notified_ = false;
}

} // namespace tempinbox::webhooks
