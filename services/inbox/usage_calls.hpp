#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "mailbox/email_count_store.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// The call that counts emails a day.
class usage_calls
{
public:
    explicit usage_calls(mailbox::email_count_store& counts) : counts_(counts) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::CountEmailsResponse>> count(v1::CountEmailsRequest request);

private:
    mailbox::email_count_store& counts_;
};

} // namespace tempinbox::inbox
