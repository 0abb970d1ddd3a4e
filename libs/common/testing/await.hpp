#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <optional>

namespace tempinbox::testing {

// A host for tests: a loop that only runs inside `await`, quiet logs.
runtime::host& test_host();

namespace detail {

template <class T>
awaitable<void> store_result(awaitable<T> task, std::optional<T>& result)
{
    result.emplace(co_await std::move(task));
}

// Runs the test host's loop until the coroutine ends; rethrows what it threw.
void run_to_end(awaitable<void> task, std::chrono::milliseconds deadline);

} // namespace detail

// Runs the test host's loop until the coroutine ends; rethrows what it threw; throws if the
// deadline passes first.
template <class T>
T await(awaitable<T> task, std::chrono::milliseconds deadline = std::chrono::seconds(20))
{
    if constexpr (std::is_void_v<T>) {
        detail::run_to_end(std::move(task), deadline);
    } else {
        std::optional<T> result;
        detail::run_to_end(detail::store_result<T>(std::move(task), result), deadline);
        return std::move(*result);
    }
}

// Runs the loop until the condition holds; false if the deadline passed first.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds deadline = std::chrono::seconds(10));

} // namespace tempinbox::testing
