#pragma once

#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/daily_counts.hpp"
#include "common/rpc/server.hpp"
#include "common/runtime/host.hpp"
#include "inbox/domain_rpc.hpp"
#include "inbox/email_rpc.hpp"
#include "inbox/expiry.hpp"
#include "inbox/inbox_rpc.hpp"
#include "inbox/mail_reader.hpp"
#include "inbox/partition_maintenance.hpp"
#include "inbox/purge.hpp"
#include "inbox/search_rpc.hpp"
#include "inbox/settings.hpp"
#include "mailbox/account_state_consumer.hpp"
#include "mailbox/email_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// The inbox service: RPC for inboxes and emails, expiry, purge and partition maintenance. Any
// number of replicas.
class service final : public runtime::service
{
public:
    service(runtime::host& host, const settings& chosen);

    void start() override;
    awaitable<void> drain() override;

    host_port rpc_address() const { return server_.local_address(); }

private:
    runtime::host& host_;
    admin::listener admin_;
    postgres::pool db_;
    postgres::clock_watch clock_watch_;
    kafka::producer producer_;
    outbox::publisher publisher_;

    mailbox::account_state_repository account_states_;
    mailbox::domain_repository domains_;
    mailbox::inbox_repository inboxes_;
    mailbox::email_repository emails_;
    mailbox::email_search_repository email_search_;
    mailbox::expiry_repository expiry_repository_;
    mailbox::maintenance_repository maintenance_;

    prometheus::Counter& unreadable_account_states_;
    mailbox::account_state_consumer account_state_consumer_;
    partition_maintenance partition_maintenance_;
    expiry expiry_;
    purge purge_;
    mail_reader mail_reader_;

    inbox_rpc inbox_rpc_;
    email_rpc email_rpc_;
    search_rpc search_rpc_;
    domain_rpc domain_rpc_;
    rpc::daily_count_rpc<v1::CountEmailsRequest, v1::CountEmailsResponse, v1::EmailsOfDay>
        email_count_rpc_;
    rpc::tokens tokens_;
    rpc::server server_;
};

} // namespace tempinbox::inbox
