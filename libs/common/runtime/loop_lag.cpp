#include "common/runtime/loop_lag.hpp"

#include "common/log/log.hpp"
#include "common/runtime/thread_cpu.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace tempinbox::runtime {
namespace {

// Makes a counter follow a number that only grows.
void follow(prometheus::Counter& counter, double now)
{
    counter.Increment(std::max(0.0, now - counter.Value()));
}

} // namespace

awaitable<void> watch_loop_lag(host& host)
{
    using clock = std::chrono::steady_clock;
    constexpr auto interval = std::chrono::milliseconds(100);
    constexpr auto window = std::chrono::seconds(5);

    auto& gauge = host.metrics().gauge(
        "tempinbox_event_loop_lag_seconds",
        "Delay with which the event loop ran a timer, the maximum of the last 5 to 10 seconds");
    auto& busy = host.metrics().counter("tempinbox_event_loop_busy_seconds_total",
                                        "CPU time of the thread that runs the event loop");
    auto& dropped_lines = host.metrics().counter(
        "tempinbox_log_lines_dropped_total",
        "Log lines not written: repeats above 20 a second, or the queue to standard output was "
        "full");
    boost::asio::steady_timer timer(host.loop());
    clock::duration worst_before{}, worst_now{};
    auto window_end = clock::now() + window;
    for (;;) {
        timer.expires_after(interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
        const auto now = clock::now();
        worst_now = std::max(worst_now, now - timer.expiry());
        if (now >= window_end) {
            worst_before = std::exchange(worst_now, {});
            window_end = now + window;
        }
        follow(busy, std::chrono::duration<double>(thread_cpu()).count());
        follow(dropped_lines, static_cast<double>(log::dropped_lines()));
        gauge.Set(std::chrono::duration<double>(std::max(worst_before, worst_now)).count());
    }
}

} // namespace tempinbox::runtime
