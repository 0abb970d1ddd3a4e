#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/attempt_repository.hpp"
#include "mailbox/fault_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// RPC handlers for the faults that inboxes play on purpose, and for what senders did then.
class fault_rpc
{
public:
    fault_rpc(runtime::host& host, mailbox::fault_repository& faults,
              mailbox::attempt_repository& attempts)
        : host_(host),
          faults_(faults),
          attempts_(attempts)
    {}

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::GetFaultsResponse>> get(v1::GetFaultsRequest request);
    awaitable<result<v1::SetFaultsResponse>> set(v1::SetFaultsRequest request);
    awaitable<result<v1::ClearFaultsResponse>> clear(v1::ClearFaultsRequest request);
    awaitable<result<v1::GetSenderReportResponse>>
    get_sender_report(v1::GetSenderReportRequest request);

    runtime::host& host_;
    mailbox::fault_repository& faults_;
    mailbox::attempt_repository& attempts_;
};

} // namespace tempinbox::inbox
