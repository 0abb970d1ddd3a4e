#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace tempinbox::runtime {

// Passes results from other threads to the loop: in order, with one wake-up for all that are
// queued. Unbounded: each result belongs to a request that was bounded when it was made.
class completion_queue
{
public:
    explicit completion_queue(boost::asio::io_context& loop);

    // Thread-safe; `step` runs and is destroyed on the loop.
    void push(std::function<void()> step);

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::runtime
