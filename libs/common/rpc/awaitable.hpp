#pragma once

#include <boost/asio/awaitable.hpp>

namespace tempinbox::rpc {

// What every call answers, on either side.
template <class T = void>
using awaitable = boost::asio::awaitable<T>;

} // namespace tempinbox::rpc
