#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/api/answer_memory.hpp"
#include "gateway/api/caller.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/lists/list_cache.hpp"

namespace tempinbox::gateway {

awaitable<http::response> list_inbox_emails(const http::request& received, const caller& who,
                                            inbox_client& inboxes, list_cache& lists,
                                            answer_memory& memory);
awaitable<http::response> get_email(const http::request& received, const caller& who,
                                    inbox_client& inboxes, webhook_client& webhooks,
                                    answer_memory& memory);
awaitable<http::response> list_emails(const http::request& received, const caller& who,
                                      inbox_client& inboxes, answer_memory& memory);
awaitable<http::response> update_email(const http::request& received, const caller& who,
                                       inbox_client& inboxes);
awaitable<http::response> delete_email(const http::request& received, const caller& who,
                                       inbox_client& inboxes);

} // namespace tempinbox::gateway
