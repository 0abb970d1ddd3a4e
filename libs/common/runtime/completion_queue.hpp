#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace tempinbox::runtime {

// How other threads hand their outcomes to the loop: in order, with one wake-up for all that
// gathered. Unbounded: what is pushed answers something that was bounded when it was asked.
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
