#include "common/runtime/repeated_task.hpp"

#include "common/log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::runtime {

namespace asio = boost::asio;

struct repeated_task::state
{
    std::string name;
    step work;
    const std::chrono::microseconds failure_pause;
    asio::steady_timer pause;
    asio::steady_timer ended;
    bool is_started = false;
    bool is_stopping = false;
    bool is_woken = false;
    bool is_failing = false;

    state(host& process, std::string task_name, step task,
          std::chrono::microseconds pause_after_failure)
        : name(std::move(task_name)),
          work(std::move(task)),
          failure_pause(pause_after_failure),
          pause(process.executor()),
          ended(process.executor(), asio::steady_timer::time_point::max())
    {}

    awaitable<std::chrono::microseconds> run_step()
    {
        std::chrono::microseconds wait{0};
        std::string problem;
        try {
            wait = co_await work();
        } catch (const std::exception& error) {
            problem = error.what();
        }
        if (!problem.empty()) {
            if (!is_failing)
                log::warning(name, {{"reason", problem}});
            wait = failure_pause;
        } else if (is_failing) {
            log::info("works again", {{"task", name}});
        }
        is_failing = !problem.empty();
        co_return wait;
    }

    static awaitable<void> run(std::shared_ptr<state> self)
    {
        while (!self->is_stopping) {
            self->is_woken = false;
            const auto wait = co_await self->run_step();
            if (self->is_stopping || self->is_woken)
                continue;
            self->pause.expires_after(wait);
            co_await self->pause.async_wait(asio::as_tuple(asio::use_awaitable));
        }
        self->is_started = false;
        self->ended.cancel();
    }
};

repeated_task::repeated_task(host& process, std::string name, step work,
                             std::chrono::microseconds failure_pause)
    : state_(std::make_shared<state>(process, std::move(name), std::move(work), failure_pause))
{}

repeated_task::~repeated_task()
{
    state_->is_stopping = true;
    state_->pause.cancel();
}

void repeated_task::start()
{
    state_->is_started = true;
    auto task = state::run(state_);
    asio::co_spawn(state_->pause.get_executor(), std::move(task), asio::detached);
}

void repeated_task::wake()
{
    state_->is_woken = true;
    state_->pause.cancel();
}

awaitable<void> repeated_task::stop()
{
    const auto self = state_;
    self->is_stopping = true;
    self->pause.cancel();
    while (self->is_started)
        co_await self->ended.async_wait(asio::as_tuple(asio::use_awaitable));
}

} // namespace tempinbox::runtime
