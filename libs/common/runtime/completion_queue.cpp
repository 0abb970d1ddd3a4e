#include "common/runtime/completion_queue.hpp"

#include <boost/asio/post.hpp>

#include <deque>
#include <mutex>

namespace tempinbox::runtime {

struct completion_queue::state : std::enable_shared_from_this<state>
{
    explicit state(boost::asio::io_context& where) : loop(where) {}

    void wake_up()
    {
        boost::asio::post(loop, [self = shared_from_this()] { self->run(); });
    }

    void run()
    {
        std::deque<std::function<void()>> ready;
        {
            const std::lock_guard lock(mutex);
            ready.swap(steps);
        }
        while (!ready.empty()) {
            const auto step = std::move(ready.front());
            ready.pop_front();
            try {
                step();
            } catch (...) {
                // The steps behind the one that threw are kept for the next turn of the loop.
                keep(std::move(ready));
                throw;
            }
        }
    }

    // A step that throws ends this turn of the loop, but the steps after it still run.
    void keep(std::deque<std::function<void()>> left)
    {
        const std::lock_guard lock(mutex);
        steps.insert(steps.begin(), std::make_move_iterator(left.begin()),
                     std::make_move_iterator(left.end()));
        if (!steps.empty())
            wake_up();
    }

    boost::asio::io_context& loop;
    std::mutex mutex;
    std::deque<std::function<void()>> steps;
};

completion_queue::completion_queue(boost::asio::io_context& loop)
    : state_(std::make_shared<state>(loop))
{}

void completion_queue::push(std::function<void()> step)
{
    bool is_first = false;
    {
        const std::lock_guard lock(state_->mutex);
        is_first = state_->steps.empty();
        state_->steps.push_back(std::move(step));
    }
    if (is_first)
        state_->wake_up();
}

} // namespace tempinbox::runtime
