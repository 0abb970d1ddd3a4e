#pragma once

#include "common/async/periodic_task.hpp"
#include "common/async/reset_event.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <optional>

namespace tempinbox::postgres {

// Two clocks, compared at one moment.
struct clock_comparison
{
    std::chrono::steady_clock::time_point began;
    time_point here;   // when the comparison began
    time_point latest; // here, when PostgreSQL's time had arrived
    time_point there;
    // How far this clock is ahead at the least: the time that the query and its result travel
    // counts for neither side.
    std::chrono::microseconds ahead{0};
};

// Compares `clock` with PostgreSQL's clock_timestamp().
awaitable<clock_comparison> compare_clocks(pool& db, const clock_source& clock);

// Compares the clock here with PostgreSQL's clock_timestamp(), for services whose times and the
// database's must agree: at start and every ten seconds. A difference of up to a minute is
// tolerated. If the first check finds more, the process ends with exit code 1 and logs both times;
// a later one shows as "clock" in health, as a metric and in `is_off`.
class clock_watch
{
public:
    static constexpr std::chrono::minutes max_offset{1};

    clock_watch(runtime::host& host, pool& db, const clock_source& clock,
                std::chrono::milliseconds interval = std::chrono::seconds(10));

    void start() { task_.start(); }
    awaitable<void> stop() { return task_.stop(); }

    // The state now, as far as it is known: a clock set in between shows at once, one that drifts
    // at the next check.
    bool is_off() const;
    // Whether the clocks have been compared; waits briefly for the first check.
    awaitable<bool> is_compared();

private:
    // The wall clock and the steady clock at one moment.
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
    std::chrono::microseconds ahead_{0}; // how far this clock was ahead at compared_at_
    async::reset_event compared_;
    async::deadline compared_by_; // nobody waits for it longer
    async::periodic_task task_;
};

} // namespace tempinbox::postgres
