#pragma once

#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/otlp/exporter.hpp"
#include "common/rpc/server.hpp"
#include "common/runtime/host.hpp"
#include "inbox/api/domain_rpc.hpp"
#include "inbox/api/email_rpc.hpp"
#include "inbox/api/end_notice_rpc.hpp"
#include "inbox/api/fault_rpc.hpp"
#include "inbox/api/inbox_rpc.hpp"
#include "inbox/api/search_rpc.hpp"
#include "inbox/core.hpp"
#include "inbox/settings.hpp"
#include "mailbox/account_state_consumer.hpp"

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
    otlp::exporter traces_;
    core core_;
    prometheus::Counter& unreadable_account_states_;
    mailbox::account_state_consumer account_state_consumer_;
    inbox_rpc inbox_rpc_;
    email_rpc email_rpc_;
    search_rpc search_rpc_;
    domain_rpc domain_rpc_;
    fault_rpc fault_rpc_;
    end_notice_rpc end_notice_rpc_;
    rpc::tokens tokens_;
    rpc::tls_contexts rpc_tls_;
    rpc::server server_;
};

} // namespace tempinbox::inbox
