#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/rpc/server.hpp"

#include "tempinbox/webhooks/v1/notice_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs of the service that emails accounts.
class notice_rpc
{
public:
    explicit notice_rpc(endpoint_repository& endpoints) : endpoints_(endpoints) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::ClaimNoticesResponse>> claim(v1::ClaimNoticesRequest request);
    awaitable<result<v1::SettleNoticeResponse>> settle(v1::SettleNoticeRequest request);

private:
    endpoint_repository& endpoints_;
};

} // namespace tempinbox::webhooks
