#include "common/async/periodic_task.hpp"

#include "common/async/reset_event.hpp"
#include "common/async/task_metrics.hpp"
#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::async {

namespace asio = boost::asio;

struct periodic_task::state
{
    const std::string name;
    task_metrics metrics;
    step work;
    const std::chrono::microseconds failure_delay;
    asio::any_io_executor executor;
    reset_event wake; // or stopping: the pause ends
    reset_event has_ended;
    bool is_stopping = false;
    bool is_failing = false;

    state(asio::any_io_executor where, metrics::registry& all, const std::string& task_name,
          step task, std::chrono::microseconds delay_after_failure)
        : name(task_name),
          metrics(all, task_name),
          work(std::move(task)),
          failure_delay(delay_after_failure),
          executor(std::move(where)),
          wake(executor),
          has_ended(executor)
    {
        has_ended.set(); // not started yet
    }

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
            metrics.failed();
            if (!is_failing)
                log::warning("background task failed", {{"task", name}, {"reason", error_text}});
            wait = failure_delay;
        } else {
            metrics.succeeded();
            if (is_failing)
                log::info("background task recovered", {{"task", name}});
        }
        is_failing = !error_text.empty();
        co_return wait;
    }

    static awaitable<void> run(std::shared_ptr<state> self)
    {
        while (!self->is_stopping) {
            self->wake.reset();
            const auto pause = co_await self->run_step();
            if (!self->is_stopping)
                co_await self->wake.wait_until(deadline::after(pause));
        }
        self->has_ended.set();
    }
};

periodic_task::periodic_task(asio::any_io_executor executor, metrics::registry& metrics,
                             const std::string& name, step work,
                             std::chrono::microseconds failure_delay)
    : state_(std::make_shared<state>(std::move(executor), metrics, name, std::move(work),
                                     failure_delay))
{}

periodic_task::~periodic_task()
{
    state_->is_stopping = true;
    state_->wake.set();
}

void periodic_task::start()
{
    state_->has_ended.reset();
    asio::co_spawn(state_->executor, state::run(state_), asio::detached);
}

void periodic_task::wake()
{
    state_->wake.set();
}

awaitable<void> periodic_task::stop()
{
    const auto self = state_;
    self->is_stopping = true;
    self->wake.set();
    co_await self->has_ended.wait();
}

} // namespace tempinbox::async
