#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "mailbox/end_notice_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// RPC handlers for the service that emails accounts.
class end_notice_rpc
{
public:
    explicit end_notice_rpc(mailbox::end_notice_repository& notices) : notices_(notices) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::ClaimEndNoticesResponse>> claim(v1::ClaimEndNoticesRequest request);
    awaitable<result<v1::SettleEndNoticeResponse>> settle(v1::SettleEndNoticeRequest request);

private:
    mailbox::end_notice_repository& notices_;
};

} // namespace tempinbox::inbox
