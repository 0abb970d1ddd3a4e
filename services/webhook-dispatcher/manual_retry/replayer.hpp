#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/manual_retry/replay_store.hpp"

#include "common/runtime/periodic_task.hpp"

namespace tempinbox::webhooks {

// Moves replays on, whichever process began them: a step for each that is due, then a short pause.
// Throws nothing; while PostgreSQL is away it tries on.
class replayer
{
public:
    replayer(runtime::host& host, replay_store& replays);

    void start() { moving_.start(); }
    // There is a new one.
    void wake() { moving_.wake(); }
    awaitable<void> stop() { return moving_.stop(); }

private:
    awaitable<std::chrono::microseconds> move();

    replay_store& replays_;
    prometheus::Counter& moved_;
    int idle_polls_ = 0;
    runtime::periodic_task moving_;
};

} // namespace tempinbox::webhooks
