#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/notice_store.hpp"

#include "common/rpc/server.hpp"

#include "tempinbox/webhooks/v1/notice_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs of the service that emails accounts.
class notice_rpc
{
public:
    explicit notice_rpc(notice_store& notices) : notices_(notices) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::ClaimNoticesResponse>> claim(v1::ClaimNoticesRequest request);
    awaitable<result<v1::SettleNoticeResponse>> settle(v1::SettleNoticeRequest request);

private:
    notice_store& notices_;
};

} // namespace tempinbox::webhooks
