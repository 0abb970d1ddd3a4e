#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway {

// Whether what a request names exists for its caller: for an API key with a tag only inboxes with
// the tag do, and their emails. One that does not is answered like one that never was. Operations
// that name no inbox and no email filter by themselves.
class tag_check
{
public:
    explicit tag_check(inbox_client& inboxes) : inboxes_(inboxes) {}

    // 404 for an inbox or email outside the caller's tag. Ids that are none are left to the
    // operation. The path parameters are filled in.
    awaitable<refusal> check(const http::request& received, const caller& who);
    // The same for the inboxes that a response to a POST names, before it is given again.
    awaitable<refusal> check_created(const http::response& created, const caller& who);

private:
    awaitable<refusal> ask(inbox::v1::CheckTagRequest request, account_id account);

    inbox_client& inboxes_;
};

} // namespace tempinbox::gateway
