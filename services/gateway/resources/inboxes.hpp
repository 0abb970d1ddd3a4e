#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/json/capture.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> create_inbox(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server);
// Whether create_inbox would refuse the request itself: its 400, or 204. Nothing is created.
awaitable<http::response> check_new_inbox(const http::request& received, const caller& who,
                                          inbox_client& inboxes, const capture_server& server);
// Up to 100 at once, each created or refused for itself; 503 if for one of them it is not known
// which, as a repeat with the Idempotency-Key will then find out.
awaitable<http::response> create_inboxes(const http::request& received, const caller& who,
                                         inbox_client& inboxes, const capture_server& server);
awaitable<http::response> check_new_inboxes(const http::request& received, const caller& who,
                                            inbox_client& inboxes, const capture_server& server);
awaitable<http::response> list_inboxes(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server);
awaitable<http::response> get_inbox(const http::request& received, const caller& who,
                                    inbox_client& inboxes, const capture_server& server);
awaitable<http::response> delete_inbox(const http::request& received, const caller& who,
                                       inbox_client& inboxes);
awaitable<http::response> list_rejections(const http::request& received, const caller& who,
                                          inbox_client& inboxes);
awaitable<http::response> list_domains(const http::request& received, const caller& who,
                                       inbox_client& inboxes);

} // namespace tempinbox::gateway
