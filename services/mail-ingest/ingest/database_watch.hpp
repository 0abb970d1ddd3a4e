#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace tempinbox::mail_ingest {

// Probes PostgreSQL each second, so that during an outage clients are turned away at connect, not
// at every command. It probes every pool, since each reconnects by itself: a pool that answers
// lookups again does not help a client whose mail the other pool cannot store yet.
class database_watch
{
public:
    using pools = std::vector<std::reference_wrapper<postgres::pool>>;

    database_watch(runtime::host& host, pools watched);

    void start() { task_.start(); }
    awaitable<void> stop() { return task_.stop(); }

    // PostgreSQL has been away for more than five seconds.
    bool is_away() const;

private:
    awaitable<std::chrono::microseconds> tick();
    static awaitable<void> ping(postgres::pool& db);

    pools pools_;
    std::optional<std::chrono::steady_clock::time_point> away_since_;
    async::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
