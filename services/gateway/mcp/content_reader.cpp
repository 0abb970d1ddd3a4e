#include "gateway/mcp/content_reader.hpp"

#include "common/async/thread_priority.hpp"

#include <algorithm>
#include <thread>

namespace tempinbox::gateway::mcp {
namespace {

using namespace std::chrono_literals;

constexpr auto reading_timeout = 10s;
constexpr int nice_increment = 10; // nobody waits for what a tool reads as for a reply to mail
constexpr std::size_t max_threads = 4;

} // namespace

content_reader::content_reader(boost::asio::any_io_executor loop, std::size_t threads,
                               std::size_t max)
    : threads_(std::move(loop), threads, std::max<std::size_t>(1, threads - 1),
               {max, std::max<std::size_t>(1, max / 4)})
{}

// One core is the loop's.
std::size_t content_reader::threads_here()
{
    const std::size_t cores = std::thread::hardware_concurrency();
    return std::clamp<std::size_t>(cores - std::min<std::size_t>(cores, 1), 1, max_threads);
}

failure content_reader::too_many()
{
    return failure{errc::unavailable, "Too many emails are being read; try again"};
}

awaitable<bool> content_reader::run(account_id account, std::function<void()> job)
{
    co_return co_await threads_.run(
        account,
        [job = std::move(job)] {
            async::lower_thread_priority(nice_increment);
            job();
        },
        async::deadline::after(reading_timeout));
}

} // namespace tempinbox::gateway::mcp
