#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/delivery_repository.hpp"

#include "common/async/periodic_task.hpp"

#include <functional>

namespace tempinbox::webhooks {

// Continues replays, whichever process began them: one step for each that is due, then a short
// pause. `on_moved` is told the webhook whose deliveries a step made due, so that nobody has to
// search for them. Throws nothing; while PostgreSQL is away it keeps trying.
class replayer
{
public:
    replayer(runtime::host& host, delivery_repository& deliveries,
             std::function<void(webhook_id)> on_moved);

    void start() { moving_.start(); }
    // To be called when there is a new replay.
    void wake() { moving_.wake(); }
    awaitable<void> stop() { return moving_.stop(); }

private:
    awaitable<std::chrono::microseconds> move();

    delivery_repository& deliveries_;
    std::function<void(webhook_id)> on_moved_;
    prometheus::Counter& moved_;
    int idle_polls_ = 0;
    async::periodic_task moving_;
};

} // namespace tempinbox::webhooks
