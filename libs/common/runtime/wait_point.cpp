#include "common/runtime/wait_point.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::runtime {

awaitable<bool> wait_point::wait()
{
    constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
    if (!is_reached_)
        co_await timer_.async_wait(token);
    co_return is_reached_;
}

} // namespace tempinbox::runtime
