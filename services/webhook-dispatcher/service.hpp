#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/api/delivery_rpc.hpp"
#include "webhook-dispatcher/api/event_rpc.hpp"
#include "webhook-dispatcher/api/notice_rpc.hpp"
#include "webhook-dispatcher/api/rule_rpc.hpp"
#include "webhook-dispatcher/api/secret_rpc.hpp"
#include "webhook-dispatcher/api/webhook_rpc.hpp"
#include "webhook-dispatcher/core.hpp"
#include "webhook-dispatcher/settings.hpp"

#include "common/admin/listener.hpp"
#include "common/kafka/consumer.hpp"
#include "common/otlp/exporter.hpp"
#include "common/rpc/daily_counts.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::webhooks {

// Webhook endpoints, routing rules and feeds by RPC; events from Kafka become deliveries and rows
// of feeds, and deliveries go to receivers. Any number of replicas may run.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);

    void start() override;
    awaitable<void> drain() override;

    host_port rpc_address() const { return server_.local_address(); }

private:
    runtime::host& host_;
    settings settings_;
    admin::listener admin_;
    otlp::exporter traces_;
    core core_;
    kafka::consumer consumer_;

    webhook_rpc webhook_rpc_;
    secret_rpc secret_rpc_;
    notice_rpc notice_rpc_;
    rule_rpc rule_rpc_;
    rpc::daily_count_rpc<v1::CountDeliveriesRequest, v1::CountDeliveriesResponse,
                         v1::DeliveriesOfDay>
        delivery_count_call_;
    delivery_rpc delivery_rpc_;
    event_rpc event_rpc_;
    rpc::tokens tokens_;
    rpc::tls_contexts rpc_tls_;
    rpc::server server_;
};

} // namespace tempinbox::webhooks
