#pragma once

#include "common/postgres/pool.hpp"
#include "common/runtime/periodic_task.hpp"
#include "common/runtime/wait_point.hpp"

#include <chrono>
#include <optional>

namespace tempinbox::postgres {

// Compares the clock here with PostgreSQL's clock_timestamp(), for services whose times and the
// database's must agree: at start and every ten seconds. Up to a minute is borne. A process that
// finds its clock further off at its first look ends with exit code 1 and both times; later it is
// "clock" in health, a metric, and what `is_off` says. What the question and its answer take on
// their way counts for neither side.
class clock_watch
{
public:
    clock_watch(runtime::host& host, pool& db, const clock_source& clock,
                std::chrono::milliseconds interval = std::chrono::seconds(10));

    void start() { task_.start(); }
    awaitable<void> stop() { return task_.stop(); }

    // At this moment, as far as is known: a clock that is set meanwhile shows at once, one that
    // drifts at the next look.
    bool is_off() const;
    // Whether the clocks were compared once; waits a little for it.
    awaitable<bool> is_compared();

private:
    // This clock against one that nobody sets.
    struct moment
    {
        time_point here;
        std::chrono::steady_clock::time_point steady;
    };

    awaitable<std::chrono::microseconds> compare();
    void judge(time_point here, time_point there, std::chrono::microseconds ahead, bool is_first);
    std::chrono::microseconds set_since(const moment& then) const;

    runtime::host& host_;
    pool& db_;
    const clock_source& clock_;
    const std::chrono::milliseconds interval_;
    prometheus::Gauge& offset_;
    std::optional<moment> compared_at_;
    std::chrono::microseconds ahead_{0}; // this clock, then
    runtime::wait_point compared_;
    runtime::periodic_task task_;
};

} // namespace tempinbox::postgres
