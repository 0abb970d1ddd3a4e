#pragma once

#include "common/async/fair_pool.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace tempinbox::gateway::mcp {

// Reads what mails hold on threads of its own, of low priority: a page of a mail would block the
// loop too long. Accounts take turns. Used on one loop, which outlives it.
class content_reader
{
public:
    // Readings that wait or are under way; of one account at most a quarter.
    static constexpr std::size_t max_readings = 512;

    explicit content_reader(boost::asio::any_io_executor loop, std::size_t threads = threads_here(),
                            std::size_t max = max_readings);

    // What the job returns, which owns what it reads. `unavailable` if there are too many or its
    // turn comes too late. Once nobody waits for it any more, it is not run.
    template <class T>
    awaitable<result<T>> read(account_id account, std::stop_token stop, std::function<T()> job);

    // Takes no more, and waits for those under way.
    void stop() { threads_.stop(); }

private:
    static std::size_t threads_here();
    static failure too_many();
    awaitable<bool> run(account_id account, std::function<void()> job);

    async::fair_pool<account_id> threads_;
};

template <class T>
awaitable<result<T>> content_reader::read(account_id account, std::stop_token stop,
                                          std::function<T()> job)
{
    const auto found = std::make_shared<std::optional<T>>();
    const bool has_run =
        co_await run(account, [stop = std::move(stop), job = std::move(job), found] {
            if (!stop.stop_requested())
                found->emplace(job());
        });
    if (!has_run || !*found)
        co_return too_many();
    co_return std::move(**found);
}

} // namespace tempinbox::gateway::mcp
