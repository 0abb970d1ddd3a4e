#pragma once

#include "common/async/wait_group.hpp"
#include "common/core/awaitable.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace tempinbox::async {

// Runs all at the same time on the caller's executor, a loop; returns what they returned, in their
// order. If some throw, one of the exceptions is thrown again once all have ended.
template <class T>
awaitable<std::vector<T>> gather(std::vector<awaitable<T>> all)
{
    struct gathering
    {
        std::vector<T> results;
        std::exception_ptr failed;
        wait_group open;

        gathering(boost::asio::any_io_executor executor, std::size_t count)
            : results(count),
              open(std::move(executor), count)
        {}
    };
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto state = std::make_shared<gathering>(executor, all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        boost::asio::co_spawn(executor, std::move(all[i]),
                              [state, i](std::exception_ptr failed, T result) {
                                  if (failed)
                                      state->failed = failed;
                                  else
                                      state->results[i] = std::move(result);
                                  state->open.done();
                              });
    co_await state->open.wait();
    if (state->failed)
        std::rethrow_exception(state->failed);
    co_return std::move(state->results);
}

} // namespace tempinbox::async
