#pragma once

#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace tempinbox::async {

// Background work of a service: runs a step again and again on the loop, one at a time. A step
// returns how long to pause before the next; one that throws runs again after `failure_delay`. Of
// consecutive failures only the first is logged, and their end. Metrics say which tasks fail and
// when each last succeeded.
class periodic_task
{
public:
    using step = std::function<awaitable<std::chrono::microseconds>()>;

    // `name` says in log lines and metrics what the task does: "expire_inboxes".
    periodic_task(boost::asio::any_io_executor executor, metrics::registry& metrics,
                  const std::string& name, step work,
                  std::chrono::microseconds failure_delay = std::chrono::seconds(1));
    ~periodic_task();
    periodic_task(const periodic_task&) = delete;

    void start();
    // Ends the pause; if a step is in progress, the next one follows at once.
    void wake();
    // Lets a step in progress finish.
    awaitable<void> stop();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::async
