#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/replay_repository.hpp"

#include "common/async/periodic_task.hpp"

#include <chrono>
#include <functional>
#include <set>

namespace tempinbox::webhooks {

// Continues replays, whichever process began them. The next step of a replay comes as soon as its
// deliveries were attempted (`step_soon`); a search every second finds what another process began
// or left. `on_moved` is told the webhook whose deliveries a step made due, so that nobody has to
// search for them. Throws nothing; while PostgreSQL is away it keeps trying. Used on the loop only.
class replayer
{
public:
    replayer(runtime::host& host, replay_repository& replays,
             std::function<void(webhook_key)> on_moved);

    void start() { moving_.start(); }
    // To be called when the webhook has a new replay, or room for more of one. Many calls make one
    // step.
    void step_soon(webhook_key webhook);
    awaitable<void> stop() { return moving_.stop(); }

private:
    awaitable<std::chrono::microseconds> move();
    awaitable<void> search();
    void note(const replay_step& done);

    replay_repository& replays_;
    std::function<void(webhook_key)> on_moved_;
    prometheus::Counter& moved_;
    std::set<webhook_key> requested_; // webhooks whose replays have a step to make
    std::set<webhook_key> stepping_;  // those of them whose turn is now
    bool is_idle_ = false;            // pausing until the next search
    std::chrono::steady_clock::time_point next_search_{};
    async::periodic_task moving_;
};

} // namespace tempinbox::webhooks
