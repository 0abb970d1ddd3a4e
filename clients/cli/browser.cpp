#include "cli/browser.hpp"

#include "common/async/deadline.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <optional>
#include <unistd.h>

namespace tempinbox::cli {
namespace {

using namespace std::chrono_literals;

// A program that still runs after this time is the browser itself.
constexpr auto start_timeout = 3s;
constexpr auto check_interval = 50ms;

// Without a shell, so that nothing in the address is a command. 0: it cannot be started.
pid_t start(const char* program, const std::string& url)
{
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
        ::posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_WRONLY, 0);
    std::string name = program;
    std::string address = url;
    std::array<char*, 3> argv{name.data(), address.data(), nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, program, &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    return error == 0 ? child : 0;
}

// Whether the program ended well, or still runs.
awaitable<bool> has_started(pid_t child)
{
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    const auto until = async::deadline::after(start_timeout);
    while (!until.has_passed()) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child)
            co_return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        timer.expires_after(check_interval);
        co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    co_return true;
}

} // namespace

awaitable<result<void>> open_in_browser(std::string url)
{
    for (const char* const program : {"xdg-open", "open"}) {
        const pid_t child = start(program, url);
        if (child == 0)
            continue;
        const bool is_open = co_await has_started(child);
        if (is_open)
            co_return result<void>();
    }
    co_return failure{errc::internal, "no browser can be started from here (xdg-open, open): open "
                                      "this address yourself: " +
                                          url};
}

} // namespace tempinbox::cli
