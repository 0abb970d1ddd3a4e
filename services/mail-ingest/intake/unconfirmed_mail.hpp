#pragma once

#include "common/core/awaitable.hpp"
#include "common/log/rate_limiter.hpp"
#include "common/runtime/periodic_task.hpp"
#include "common/runtime/wait_point.hpp"
#include "mail-ingest/intake/undecided_mail.hpp"
#include "mailbox/unconfirmed_store.hpp"

#include <string>
#include <vector>

namespace tempinbox::mail_ingest {

// Keeps which mail was stored without its sender surely knowing it: the session ended before any
// command after the 250, or this process crashed. The same message again within ten minutes is then
// the same email, where any other repeat is a new one.
class unconfirmed_mail
{
public:
    // `replica`: a name that a restarted process has again.
    unconfirmed_mail(runtime::host& host, mailbox::unconfirmed_store& store, std::string replica);

    void start() { task_.start(); }
    // Writes down what is noted, and that this process ended in order.
    awaitable<void> stop();

    // What may still become so.
    undecided_mails& undecided() { return undecided_; }

    // Written down soon; while the database is away a bounded number is remembered, and what is
    // beyond is counted and warned of.
    void note(std::shared_ptr<undecided_mail> mail);

    // Whether the crash of the process before is dealt with; waits a little for it.
    awaitable<bool> is_ready();

private:
    awaitable<std::chrono::microseconds> round();
    awaitable<void> write_down();

    mailbox::unconfirmed_store& store_;
    const std::string replica_;
    prometheus::Counter& forgotten_;
    log::rate_limiter warnings_{std::chrono::minutes(1)};
    undecided_mails undecided_;
    std::vector<std::shared_ptr<undecided_mail>> noted_;
    std::size_t noted_emails_ = 0;
    bool has_signed_on_ = false;
    std::chrono::steady_clock::time_point next_beat_;
    runtime::wait_point ready_;
    runtime::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
