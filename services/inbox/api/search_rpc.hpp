#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "inbox/lifecycle/renewal.hpp"
#include "inbox/reading/message_search.hpp"
#include "mailbox/email_repository.hpp"

#include "tempinbox/inbox/v1/email_search.pb.h"

namespace tempinbox::inbox {

// RPC handlers for long polls.
class search_rpc
{
public:
    search_rpc(mailbox::email_repository& emails, message_search& search, renewal& renewals)
        : emails_(emails),
          search_(search),
          renewal_(renewals)
    {}

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::FindFirstEmailsResponse>> find_first(v1::FindFirstEmailsRequest request);
    awaitable<result<v1::GetLastSequencesResponse>>
    last_sequences(v1::GetLastSequencesRequest request);

    mailbox::email_repository& emails_;
    message_search& search_;
    renewal& renewal_;
};

} // namespace tempinbox::inbox
