#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "webhook-dispatcher/delivery/delivery_count_store.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::webhooks {

// The call that counts deliveries a day.
class usage_calls
{
public:
    explicit usage_calls(delivery_count_store& counts) : counts_(counts) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::CountDeliveriesResponse>> count(v1::CountDeliveriesRequest request);

private:
    delivery_count_store& counts_;
};

} // namespace tempinbox::webhooks
