#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/json/capture.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> update_inbox(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server);
awaitable<http::response> delete_tagged_inboxes(const http::request& received, const caller& who,
                                                inbox_client& inboxes);
awaitable<http::response> empty_inbox(const http::request& received, const caller& who,
                                      inbox_client& inboxes);

} // namespace tempinbox::gateway
