#pragma once

#include "common/async/periodic_task.hpp"
#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "common/log/rate_limiter.hpp"
#include "mail-ingest/ingest/in_flight_dedup.hpp"
#include "mailbox/ingest_repository.hpp"

#include <string>
#include <vector>

namespace tempinbox::mail_ingest {

// Records which mail was stored though its sender may not have seen the 250: the session ended
// before any command after the 250, or this process crashed. If the same message comes again within
// ten minutes it is answered with the stored email; any other repeat is a new email.
class unacknowledged_mail
{
public:
    // `replica`: a name that stays the same when the process restarts.
    unacknowledged_mail(runtime::host& host, mailbox::ingest_repository& store,
                        std::string replica);

    void start() { task_.start(); }
    // Writes what is pending and signs off, so that this end is not taken for a crash.
    awaitable<void> stop();

    // The messages that can still become unacknowledged.
    in_flight_dedup& in_flight() { return in_flight_; }

    // Queues the message's emails to be written soon. While PostgreSQL is away at most 10,000
    // emails are queued; more are counted and logged.
    void note(std::shared_ptr<in_flight_message> mail);

    // Whether a crash of this replica's last process has been handled; waits up to 10 s for it.
    awaitable<bool> is_ready();

private:
    awaitable<std::chrono::microseconds> tick();
    awaitable<void> flush();

    mailbox::ingest_repository& store_;
    const std::string replica_;
    prometheus::Counter& dropped_;
    log::rate_limiter warnings_{std::chrono::minutes(1)};
    in_flight_dedup in_flight_;
    std::vector<std::shared_ptr<in_flight_message>> pending_;
    std::size_t pending_emails_ = 0;
    bool has_signed_on_ = false;
    std::chrono::steady_clock::time_point next_heartbeat_;
    async::reset_event ready_;
    async::deadline ready_by_; // nobody waits for it longer
    async::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
