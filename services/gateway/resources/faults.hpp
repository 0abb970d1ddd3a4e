#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

// What an inbox plays on purpose to whoever sends to it.
awaitable<http::response> get_faults(const http::request& received, const caller& who,
                                     inbox_client& inboxes);
awaitable<http::response> set_faults(const http::request& received, const caller& who,
                                     inbox_client& inboxes);
awaitable<http::response> clear_faults(const http::request& received, const caller& who,
                                       inbox_client& inboxes);
// What senders did with an inbox that has or had a login or faults, or is a catch-all.
awaitable<http::response> get_sender_report(const http::request& received, const caller& who,
                                            inbox_client& inboxes);

} // namespace tempinbox::gateway
