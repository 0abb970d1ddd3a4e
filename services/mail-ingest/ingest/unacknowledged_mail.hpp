#pragma once

#include "common/core/awaitable.hpp"
#include "common/log/rate_limiter.hpp"
#include "common/runtime/periodic_task.hpp"
#include "common/runtime/wait_point.hpp"
#include "mail-ingest/ingest/in_flight_dedup.hpp"
#include "mailbox/unacknowledged_store.hpp"

#include <string>
#include <vector>

namespace tempinbox::mail_ingest {

// Keeps which mail was stored without its sender surely knowing it: the session ended before any
// command after the 250, or this process crashed. The same message again within ten minutes is then
// the same email, where any other repeat is a new one.
class unacknowledged_mail
{
public:
    // `replica`: a name that a restarted process has again.
    unacknowledged_mail(runtime::host& host, mailbox::unacknowledged_store& store,
                        std::string replica);

    void start() { task_.start(); }
    // Writes down what is noted, and that this process ended in order.
    awaitable<void> stop();

    // What may still become so.
    in_flight_dedup& in_flight() { return in_flight_; }

    // Written down soon; while the database is away a bounded number is remembered, and what is
    // beyond is counted and warned of.
    void note(std::shared_ptr<in_flight_message> mail);

    // Whether the crash of the process before is dealt with; waits a little for it.
    awaitable<bool> is_ready();

private:
    awaitable<std::chrono::microseconds> tick();
    awaitable<void> flush();

    mailbox::unacknowledged_store& store_;
    const std::string replica_;
    prometheus::Counter& dropped_;
    log::rate_limiter warnings_{std::chrono::minutes(1)};
    in_flight_dedup in_flight_;
    std::vector<std::shared_ptr<in_flight_message>> pending_;
    std::size_t pending_emails_ = 0;
    bool has_signed_on_ = false;
    std::chrono::steady_clock::time_point next_heartbeat_;
    runtime::wait_point ready_;
    runtime::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
