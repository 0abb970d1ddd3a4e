#include "common/credentials/lookup_limiter.hpp"

#include "common/async/reset_event.hpp"

#include <algorithm>
#include <deque>

namespace tempinbox::credentials {

struct lookup_limiter::state
{
    boost::asio::any_io_executor executor;
    std::size_t at_once;
    std::size_t max_waiting;
    std::chrono::milliseconds timeout;
    std::size_t taken = 0;
    std::deque<std::shared_ptr<async::reset_event>> waiters;

    static slot make_slot(const std::shared_ptr<state>& self)
    {
        return slot(self.get(), [self](const void*) { self->release(); });
    }

    // The slot goes to the longest waiting lookup.
    void release()
    {
        if (waiters.empty()) {
            --taken;
            return;
        }
        const auto next = std::move(waiters.front());
        waiters.pop_front();
        next->set();
    }
};

lookup_limiter::lookup_limiter(runtime::host& host, prometheus::Counter& refused,
                               std::size_t at_once, std::size_t max_waiting,
                               std::chrono::milliseconds timeout)
    : state_(std::make_shared<state>()),
      refused_(refused)
{
    state_->executor = host.executor();
    state_->at_once = at_once;
    state_->max_waiting = max_waiting;
    state_->timeout = timeout;
}

awaitable<lookup_limiter::slot> lookup_limiter::enter()
{
    const auto self = state_;
    auto& refused = refused_;
    if (self->taken < self->at_once) {
        ++self->taken;
        co_return state::make_slot(self);
    }
    if (self->waiters.size() < self->max_waiting) {
        const auto one = std::make_shared<async::reset_event>(self->executor);
        self->waiters.push_back(one);
        if (co_await one->wait_until(std::chrono::steady_clock::now() + self->timeout))
            co_return state::make_slot(self);
        std::erase(self->waiters, one);
    }
    refused.Increment();
    co_return nullptr;
}

} // namespace tempinbox::credentials
