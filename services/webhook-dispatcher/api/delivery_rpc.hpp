#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "webhook-dispatcher/history/delivery_log_store.hpp"
#include "webhook-dispatcher/history/routing_log_store.hpp"
#include "webhook-dispatcher/manual_retry/manual_sender.hpp"
#include "webhook-dispatcher/manual_retry/replay_store.hpp"
#include "webhook-dispatcher/manual_retry/replayer.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs about deliveries: their log, single retries, replays, and why an email went where.
class delivery_rpc
{
public:
    delivery_rpc(runtime::host& host, delivery_log_store& log, routing_log_store& routings,
                 manual_sender& sender, replay_store& replays, replayer& moving);

    void add_to(rpc::server& server);

    awaitable<result<v1::ListDeliveriesResponse>> list(v1::ListDeliveriesRequest request);
    awaitable<result<v1::TestWebhookResponse>> test(v1::TestWebhookRequest request);
    awaitable<result<v1::RetryDeliveryResponse>> retry(v1::RetryDeliveryRequest request);
    awaitable<result<v1::ReplayDeliveriesResponse>> replay(v1::ReplayDeliveriesRequest request);
    awaitable<result<v1::GetRoutingResponse>> get_routing(v1::GetRoutingRequest request);

private:
    runtime::host& host_;
    delivery_log_store& log_;
    routing_log_store& routings_;
    manual_sender& sender_;
    replay_store& replays_;
    replayer& moving_;
};

} // namespace tempinbox::webhooks
