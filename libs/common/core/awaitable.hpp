#pragma once

#include <boost/asio/awaitable.hpp>

namespace tempinbox {

// What a coroutine answers; nothing, where no type is said.
template <class T = void>
using awaitable = boost::asio::awaitable<T>;

} // namespace tempinbox
