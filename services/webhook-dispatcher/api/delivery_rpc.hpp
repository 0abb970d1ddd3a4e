#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "webhook-dispatcher/manual_retry/manual_sender.hpp"
#include "webhook-dispatcher/manual_retry/replayer.hpp"
#include "webhook-dispatcher/storage/delivery_repository.hpp"
#include "webhook-dispatcher/storage/replay_repository.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"

#include <optional>
#include <utility>
#include <vector>

namespace tempinbox::webhooks {

// The RPCs about deliveries: their log, single retries, replays, and why an email went where.
class delivery_rpc
{
public:
    delivery_rpc(runtime::host& host, delivery_repository& deliveries, replay_repository& replays,
                 manual_sender& sender, replayer& moving);

    void add_to(rpc::server& server);

    awaitable<result<v1::ListDeliveriesResponse>> list(v1::ListDeliveriesRequest request);
    awaitable<result<v1::GetDeliveryResponse>> get(v1::GetDeliveryRequest request);
    awaitable<result<v1::TestWebhookResponse>> test(v1::TestWebhookRequest request);
    awaitable<result<v1::RetryDeliveryResponse>> retry(v1::RetryDeliveryRequest request);
    awaitable<result<v1::ReplayDeliveriesResponse>> replay(v1::ReplayDeliveriesRequest request);
    awaitable<result<v1::GetRoutingResponse>> get_routing(v1::GetRoutingRequest request);
    awaitable<result<v1::GetEmailDeliveriesResponse>>
    get_email_deliveries(v1::GetEmailDeliveriesRequest request);

private:
    using email_name = std::pair<account_id, event_id>;
    struct account_of
    {
        account_id operator()(const email_name& name) const { return name.first; }
    };

    runtime::host& host_;
    delivery_repository& deliveries_;
    replay_repository& replays_;
    manual_sender& sender_;
    replayer& moving_;
    async::batcher<email_name, result<delivery_repository::routing>, async::unit_item_weight,
                   account_of>
        routings_;
};

} // namespace tempinbox::webhooks
