#include "common/runtime/periodic_task.hpp"

#include "common/log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::runtime {

namespace asio = boost::asio;

struct periodic_task::state
{
    std::string name;
    step work;
    const std::chrono::microseconds failure_delay;
    asio::steady_timer timer;
    asio::steady_timer ended;
    bool is_started = false;
    bool is_stopping = false;
    bool is_woken = false;
    bool is_failing = false;

    state(host& process, std::string task_name, step task,
          std::chrono::microseconds delay_after_failure)
        : name(std::move(task_name)),
          work(std::move(task)),
          failure_delay(delay_after_failure),
          timer(process.executor()),
          ended(process.executor(), asio::steady_timer::time_point::max())
    {}

    awaitable<std::chrono::microseconds> run_step()
    {
        std::chrono::microseconds wait{0};
        std::string error_text;
        try {
            wait = co_await work();
        } catch (const std::exception& error) {
            error_text = error.what();
        }
        if (!error_text.empty()) {
            if (!is_failing)
                log::warning(name, {{"reason", error_text}});
            wait = failure_delay;
        } else if (is_failing) {
            log::info("background task recovered", {{"task", name}});
        }
        is_failing = !error_text.empty();
        co_return wait;
    }

    static awaitable<void> run(std::shared_ptr<state> self)
    {
        while (!self->is_stopping) {
            self->is_woken = false;
            const auto wait = co_await self->run_step();
            if (self->is_stopping || self->is_woken)
                continue;
            self->timer.expires_after(wait);
            co_await self->timer.async_wait(asio::as_tuple(asio::use_awaitable));
        }
        self->is_started = false;
        self->ended.cancel();
    }
};

periodic_task::periodic_task(host& process, std::string name, step work,
                             std::chrono::microseconds failure_delay)
    : state_(std::make_shared<state>(process, std::move(name), std::move(work), failure_delay))
{}

periodic_task::~periodic_task()
{
    state_->is_stopping = true;
    state_->timer.cancel();
}

void periodic_task::start()
{
    state_->is_started = true;
    auto task = state::run(state_);
    asio::co_spawn(state_->timer.get_executor(), std::move(task), asio::detached);
}

void periodic_task::wake()
{
    state_->is_woken = true;
    state_->timer.cancel();
}

awaitable<void> periodic_task::stop()
{
    const auto self = state_;
    self->is_stopping = true;
    self->timer.cancel();
    while (self->is_started)
        co_await self->ended.async_wait(asio::as_tuple(asio::use_awaitable));
}

} // namespace tempinbox::runtime
