#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "mailbox/fault_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// RPC handlers for the faults that inboxes play on purpose.
class fault_rpc
{
public:
    explicit fault_rpc(mailbox::fault_repository& faults) : faults_(faults) {}

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::GetFaultsResponse>> get(v1::GetFaultsRequest request);
    awaitable<result<v1::SetFaultsResponse>> set(v1::SetFaultsRequest request);
    awaitable<result<v1::ClearFaultsResponse>> clear(v1::ClearFaultsRequest request);

    mailbox::fault_repository& faults_;
};

} // namespace tempinbox::inbox
