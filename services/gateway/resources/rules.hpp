#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

// Routing rules. They are managed with a dashboard session, so their paths begin with
// /dashboard/api. Listing, reading and deleting work on every plan, because rules outlive the plan
// that allowed them; the other operations are 403 on a plan without rules.
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
// Which rules match an email, given by its fields or as a stored email of the account, and where it
// would be delivered.
awaitable<http::response> test_rules(const http::request& received, const caller& who,
                                     webhook_client& webhooks, inbox_client& inboxes);

} // namespace tempinbox::gateway
