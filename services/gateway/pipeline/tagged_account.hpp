#pragma once

#include "gateway/routes/caller.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::gateway {

inline void put_tagged_account(inbox::v1::TaggedAccount& account, const caller& who)
{
    account.set_account_id(who.account().text());
    account.set_tag(*who.tag());
}

// For operations on all inboxes that exist for the caller: names the account, with the tag of the
// caller's key if it has one.
template <class Request>
void set_account(Request& request, const caller& who)
{
    if (who.tag())
        put_tagged_account(*request.mutable_tagged_account(), who);
    else
        request.set_account_id(who.account().text());
}

} // namespace tempinbox::gateway
