#pragma once

#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/database_watch.hpp"
#include "mail-ingest/ingest/ingest.hpp"
#include "mail-ingest/recipients/recipients.hpp"
#include "mail-ingest/settings.hpp"
#include "mail-ingest/smtp/listener.hpp"
#include "mailbox/account_state_consumer.hpp"

namespace tempinbox::mail_ingest {

// Receives mail over SMTP: resolves recipients, stores messages in the mailbox, then replies 250.
// Any number of replicas.
class service final : public runtime::service
{
public:
    service(runtime::host& host, const settings& chosen);

    void start() override;
    awaitable<void> drain() override;

    host_port smtp_address() const { return listener_.local_address(); }

private:
    runtime::host& host_;
    const settings settings_;
    admin::listener admin_;
    postgres::pool db_;
    postgres::pool look_up_db_; // a pool of its own, so that RCPT does not queue behind commits
    kafka::producer producer_;
    outbox::publisher publisher_;

    mailbox::ingest_repository ingest_repository_;
    unacknowledged_mail unacknowledged_;
    mail_ingest::recipients recipients_;
    mail_ingest::ingest ingest_;
    mailbox::account_state_repository account_states_;
    mailbox::account_state_consumer account_state_consumer_;
    kafka::broadcast_reader events_;
    database_watch database_watch_;
    postgres::clock_watch clock_watch_;

    smtp::client_limiter client_limiter_;
    smtp::tls_context tls_;
    smtp::session_metrics session_metrics_;
    smtp::session_context session_context_;
    smtp::listener listener_;
};

} // namespace tempinbox::mail_ingest
