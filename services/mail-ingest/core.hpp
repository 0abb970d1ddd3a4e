#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/tls/certificate.hpp"
#include "mail-ingest/attempts/recorders.hpp"
#include "mail-ingest/faults/fault_player.hpp"
#include "mail-ingest/ingest/ingest.hpp"
#include "mail-ingest/ingest/storage_watch.hpp"
#include "mail-ingest/ingest/unacknowledged_mail.hpp"
#include "mail-ingest/recipients/recipients.hpp"
#include "mail-ingest/settings.hpp"
#include "mail-ingest/smtp/client_limiter.hpp"
#include "mail-ingest/smtp/listener.hpp"
#include "mail-ingest/smtp/session_metrics.hpp"
#include "mail-ingest/submission.hpp"
#include "mailbox/ingest_repository.hpp"

#include <chrono>
#include <string>

namespace tempinbox::mail_ingest {

// Takes mail by SMTP and stores it: everything but what other processes say of accounts and
// inboxes. `chosen` and `clock` outlive it.
class core
{
public:
    // `replica`: a name that stays the same when the process restarts.
    core(runtime::host& host, const settings& chosen, const clock_source& clock,
         std::string replica);
    core(const core&) = delete;

    void start();
    // Lets sessions end, which store mail.
    awaitable<void> drain(std::chrono::milliseconds timeout) { return listener.drain(timeout); }
    // Once sessions have ended: publishes and writes what is left, for about `timeout` each.
    awaitable<void> stop(std::chrono::milliseconds timeout);

    postgres::pool db;
    postgres::pool look_up_db; // a pool of its own, so that RCPT does not queue behind commits
    kafka::producer producer;
    outbox::publisher publisher;
    mailbox::ingest_repository store;
    unacknowledged_mail unacknowledged;
    mail_ingest::recorders recorders;
    mail_ingest::recipients recipients;
    mail_ingest::ingest ingest;
    mail_ingest::storage_watch storage_watch;
    fault_player faults;
    smtp::client_limiter client_limiter;
    tls::watched_certificate certificate; // of STARTTLS
    smtp::session_metrics session_metrics;
    smtp::session_context session_context;
    mail_ingest::submission submission;
    smtp::listener listener;
};

} // namespace tempinbox::mail_ingest
