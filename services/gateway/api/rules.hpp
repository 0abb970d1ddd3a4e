#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/api/caller.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/webhook_client.hpp"

namespace tempinbox::gateway {

// Routing rules: managed with a dashboard session (spec section 2), so their paths begin with
// /dashboard/api. Listing, reading and deleting work on every plan, since rules outlive the plan
// that had them; the rest answers 403 where the plan has none.
awaitable<http::response> list_rules(const http::request& received, const caller& who,
                                     webhook_client& webhooks);
awaitable<http::response> create_rule(const http::request& received, const caller& who,
                                      webhook_client& webhooks);
awaitable<http::response> get_rule(const http::request& received, const caller& who,
                                   webhook_client& webhooks);
awaitable<http::response> update_rule(const http::request& received, const caller& who,
                                      webhook_client& webhooks);
awaitable<http::response> delete_rule(const http::request& received, const caller& who,
                                      webhook_client& webhooks);
// Which rules match a mail, given by its fields or as an email of the account, and where it would
// go.
awaitable<http::response> test_rules(const http::request& received, const caller& who,
                                     webhook_client& webhooks, inbox_client& inboxes);

} // namespace tempinbox::gateway
