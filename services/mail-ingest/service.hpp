#pragma once

#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "common/otlp/exporter.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/core.hpp"
#include "mail-ingest/settings.hpp"
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

    host_port smtp_address() const { return core_.listener.local_address(); }

private:
    runtime::host& host_;
    const settings settings_;
    admin::listener admin_;
    otlp::exporter traces_;
    core core_;
    mailbox::account_state_repository account_states_;
    mailbox::account_state_consumer account_state_consumer_;
    kafka::broadcast_reader events_;
};

} // namespace tempinbox::mail_ingest
