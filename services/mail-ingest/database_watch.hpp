#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/periodic_task.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace tempinbox::mail_ingest {

// Asks the database each second whether it is there, so that clients can be sent away while it is
// not, rather than at every command. Every pool is asked, since each finds its way back by itself:
// one that answers look-ups again is of no use to a client whose mail the other can not store yet.
class database_watch
{
public:
    using pools = std::vector<std::reference_wrapper<postgres::pool>>;

    database_watch(runtime::host& host, pools watched);

    void start() { task_.start(); }
    awaitable<void> stop() { return task_.stop(); }

    // For more than five seconds.
    bool is_away() const;

private:
    awaitable<std::chrono::microseconds> tick();
    static awaitable<void> ping(postgres::pool& db);

    pools pools_;
    std::optional<std::chrono::steady_clock::time_point> away_since_;
    runtime::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
