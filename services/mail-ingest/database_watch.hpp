#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/repeated_task.hpp"

#include <chrono>
#include <optional>

namespace tempinbox::mail_ingest {

// Asks the database each second whether it is there, so that clients can be sent away while it is not, rather than at every
// command.
class database_watch
{
public:
    database_watch(runtime::host& host, postgres::pool& db);

    void start() { task_.start(); }
    awaitable<void> stop() { return task_.stop(); }

    // For more than five seconds.
    bool is_away() const;

private:
    awaitable<std::chrono::microseconds> look();
    awaitable<void> ask();

    postgres::pool& db_;
    std::optional<std::chrono::steady_clock::time_point> away_since_;
    runtime::repeated_task task_;
};

} // namespace tempinbox::mail_ingest
