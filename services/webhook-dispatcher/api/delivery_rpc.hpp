#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "webhook-dispatcher/manual_retry/manual_sender.hpp"
#include "webhook-dispatcher/manual_retry/replayer.hpp"
#include "webhook-dispatcher/storage/history_repository.hpp"
#include "webhook-dispatcher/storage/manual_retry_repository.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs about deliveries: their log, single retries, replays, and why an email went where.
class delivery_rpc
{
public:
    delivery_rpc(runtime::host& host, history_repository& history, manual_sender& sender,
                 manual_retry_repository& replays, replayer& moving);

    void add_to(rpc::server& server);

    awaitable<result<v1::ListDeliveriesResponse>> list(v1::ListDeliveriesRequest request);
    awaitable<result<v1::TestWebhookResponse>> test(v1::TestWebhookRequest request);
    awaitable<result<v1::RetryDeliveryResponse>> retry(v1::RetryDeliveryRequest request);
    awaitable<result<v1::ReplayDeliveriesResponse>> replay(v1::ReplayDeliveriesRequest request);
    awaitable<result<v1::GetRoutingResponse>> get_routing(v1::GetRoutingRequest request);

private:
    runtime::host& host_;
    history_repository& history_;
    manual_sender& sender_;
    manual_retry_repository& replays_;
    replayer& moving_;
};

} // namespace tempinbox::webhooks
