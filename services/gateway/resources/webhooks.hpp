#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> create_webhook(const http::request& received, const caller& who,
                                         webhook_client& webhooks);
// Whether create_webhook would refuse the request itself: its 400, or 204. Nothing is created.
awaitable<http::response> check_new_webhook(const http::request& received, const caller& who,
                                            webhook_client& webhooks);
awaitable<http::response> list_webhooks(const http::request& received, const caller& who,
                                        webhook_client& webhooks);
awaitable<http::response> get_webhook(const http::request& received, const caller& who,
                                      webhook_client& webhooks);
awaitable<http::response> update_webhook(const http::request& received, const caller& who,
                                         webhook_client& webhooks);
awaitable<http::response> rotate_webhook_secret(const http::request& received, const caller& who,
                                                webhook_client& webhooks);
// The same for rotate_webhook_secret.
awaitable<http::response> check_rotation(const http::request& received, const caller& who,
                                         webhook_client& webhooks);
awaitable<http::response> delete_webhook(const http::request& received, const caller& who,
                                         webhook_client& webhooks);

} // namespace tempinbox::gateway
