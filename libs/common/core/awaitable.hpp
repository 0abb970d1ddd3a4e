#pragma once

#include <boost/asio/awaitable.hpp>

namespace tempinbox {

// The return type of a coroutine; void by default.
template <class T = void>
using awaitable = boost::asio::awaitable<T>;

} // namespace tempinbox
