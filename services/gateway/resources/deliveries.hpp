#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> list_deliveries(const http::request& received, const caller& who,
                                          webhook_client& webhooks);
awaitable<http::response> get_delivery(const http::request& received, const caller& who,
                                       webhook_client& webhooks);
awaitable<http::response> test_webhook(const http::request& received, const caller& who,
                                       webhook_client& webhooks);
awaitable<http::response> retry_delivery(const http::request& received, const caller& who,
                                         webhook_client& webhooks);
awaitable<http::response> replay_deliveries(const http::request& received, const caller& who,
                                            webhook_client& webhooks);

// Whether the three operations above would refuse the request itself: their 400, or 204. Nothing is
// sent.
awaitable<http::response> check_webhook_test(const http::request& received, const caller& who,
                                             webhook_client& webhooks);
awaitable<http::response> check_retry(const http::request& received, const caller& who,
                                      webhook_client& webhooks);
awaitable<http::response> check_replay(const http::request& received, const caller& who,
                                       webhook_client& webhooks);

} // namespace tempinbox::gateway
