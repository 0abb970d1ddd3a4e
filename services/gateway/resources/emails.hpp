#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/list_cache.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> list_inbox_emails(const http::request& received, const caller& who,
                                            inbox_client& inboxes, list_cache& lists,
                                            response_budget& memory);
awaitable<http::response> get_email(const http::request& received, const caller& who,
                                    inbox_client& inboxes, webhook_client& webhooks,
                                    response_budget& memory);
awaitable<http::response> list_emails(const http::request& received, const caller& who,
                                      inbox_client& inboxes, response_budget& memory);
awaitable<http::response> update_email(const http::request& received, const caller& who,
                                       inbox_client& inboxes);
awaitable<http::response> delete_email(const http::request& received, const caller& who,
                                       inbox_client& inboxes);

} // namespace tempinbox::gateway
