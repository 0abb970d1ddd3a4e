#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway {

// Says of a 404 for what an inbox holds whether the inbox is there but has ended: the services that
// read mail know live inboxes alone. Other responses stay as they are. Costs a call on the way of a
// refusal, none of a success.
awaitable<http::response> name_ended_inbox(http::response response, const http::request& received,
                                           const caller& who, inbox_client& inboxes);

} // namespace tempinbox::gateway
