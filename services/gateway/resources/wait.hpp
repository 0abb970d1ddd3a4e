#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> wait_for_email(http::request& received, const caller& who,
                                         long_poll_hub& hub, inbox_client& inboxes,
                                         response_budget& memory);

} // namespace tempinbox::gateway
