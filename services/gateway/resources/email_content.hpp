#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

// Messages and attachments, which can be large. A response over 64 KiB is counted against `memory`
// until it is sent; if there is no memory, the response is 503.
awaitable<http::response> get_raw_email(const http::request& received, const caller& who,
                                        inbox_client& inboxes, response_budget& memory);
awaitable<http::response> get_attachment(const http::request& received, const caller& who,
                                         inbox_client& inboxes, response_budget& memory);

} // namespace tempinbox::gateway
