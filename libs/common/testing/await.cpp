#include "common/testing/await.hpp"

#include "common/log/log.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <cstdio>
#include <cstdlib>

namespace tempinbox::testing {

runtime::host& test_host()
{
    // Never destroyed: coroutines that a test left behind may refer to objects that no longer
    // exist.
    static auto& host = []() -> runtime::host& {
        log::set_level(log::level::error);
        return *new runtime::host("test", runtime::process_settings{});
    }();
    return host;
}

void detail::run_to_end(awaitable<void> task, std::chrono::milliseconds deadline)
{
    auto& loop = test_host().loop();
    bool is_done = false;
    std::exception_ptr error;
    boost::asio::co_spawn(loop, std::move(task), [&is_done, &error](std::exception_ptr thrown) {
        error = thrown;
        is_done = true;
    });
    if (!eventually([&is_done] { return is_done; }, deadline)) {
        // The coroutine goes on with references to what the test would destroy. Catch2 names the
        // test.
        std::fputs("testing::await: the deadline passed\n", stderr);
        std::abort();
    }
    if (error)
        std::rethrow_exception(error);
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds deadline)
{
    auto& loop = test_host().loop();
    // Without it, a loop that has nothing to do would spin.
    const auto busy = boost::asio::make_work_guard(loop);
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!condition()) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= end)
            return false;
        if (loop.stopped())
            loop.restart();
        loop.run_one_until(std::min(end, now + std::chrono::milliseconds(5)));
    }
    return true;
}

} // namespace tempinbox::testing
