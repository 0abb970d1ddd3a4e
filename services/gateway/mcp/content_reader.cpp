#include "gateway/mcp/content_reader.hpp"

#include <algorithm>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace tempinbox::gateway::mcp {
namespace {

using namespace std::chrono_literals;

constexpr auto reading_timeout = 10s;
constexpr int nice_value = 10; // a ninth of the loop's share where both want a core
constexpr std::size_t max_threads = 4;

} // namespace

// A reading, as long as somebody waits for it.
class content_reader::counted
{
public:
    counted(content_reader& reader, account_id account) : reader_(reader), account_(account)
    {
        ++reader_.readings_;
        ++reader_.of_accounts_[account_];
    }
    ~counted()
    {
        --reader_.readings_;
        const auto mine = reader_.of_accounts_.find(account_);
        if (--mine->second == 0)
            reader_.of_accounts_.erase(mine);
    }
    counted(const counted&) = delete;

private:
    content_reader& reader_;
    account_id account_;
};

content_reader::content_reader(boost::asio::any_io_executor loop, std::size_t threads,
                               std::size_t max)
    : max_(max),
      threads_(std::move(loop), threads, std::max<std::size_t>(1, threads - 1))
{}

// One core is the loop's.
std::size_t content_reader::threads_here()
{
    const std::size_t cores = std::thread::hardware_concurrency();
    return std::clamp<std::size_t>(cores - std::min<std::size_t>(cores, 1), 1, max_threads);
}

// In Linux each thread has a nice value. Where it cannot be set, the thread reads all the same.
void content_reader::lower_priority()
{
    thread_local const int lowered =
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice_value);
    static_cast<void>(lowered);
}

failure content_reader::too_many()
{
    return failure{errc::unavailable, "Too many emails are being read; try again"};
}

bool content_reader::has_room(account_id account) const
{
    const auto mine = of_accounts_.find(account);
    return readings_ < max_ &&
           (mine == of_accounts_.end() || mine->second < std::max<std::size_t>(1, max_ / 4));
}

awaitable<bool> content_reader::run(account_id account, std::function<void()> job)
{
    if (!has_room(account))
        co_return false;
    const counted one(*this, account);
    co_return co_await threads_.run(
        account,
        [job = std::move(job)] {
            lower_priority();
            job();
        },
        async::deadline::after(reading_timeout));
}

} // namespace tempinbox::gateway::mcp
