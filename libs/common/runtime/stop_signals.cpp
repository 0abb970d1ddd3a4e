#include "common/runtime/stop_signals.hpp"

#include <sys/eventfd.h>

#include <csignal>
#include <unistd.h>

namespace tempinbox::runtime {
namespace {

// Only these may be touched by a signal handler.
std::atomic<int> seen{0};
std::atomic<int> wake_up_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int)
{
    if (seen.fetch_add(1) > 0)
        _exit(1);
    const std::uint64_t one = 1;
    // The eventfd cannot be full: this is its only write.
    [[maybe_unused]] const auto written = write(wake_up_descriptor.load(), &one, sizeof one);
}

void handle(int number, void (*handler)(int))
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
}

} // namespace

stop_signals::stop_signals(boost::asio::io_context& loop, std::function<void()> on_first)
    : wake_up_(loop, eventfd(0, EFD_CLOEXEC))
{
    wake_up_descriptor = wake_up_.native_handle();
    handle(SIGPIPE, SIG_IGN);
    handle(SIGHUP, SIG_IGN);
    handle(SIGTERM, &on_stop_signal);
    handle(SIGINT, &on_stop_signal);
    wake_up_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [then = std::move(on_first)](const boost::system::error_code& error) {
                            if (!error)
                                then();
                        });
}

} // namespace tempinbox::runtime
