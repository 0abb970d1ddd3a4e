#pragma once

#include "accounts/account_repository.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> get_account(const http::request& received, const caller& who,
                                      accounts::account_repository& accounts, inbox_client& inboxes,
                                      webhook_client& webhooks, rate_limit_client& quotas);

} // namespace tempinbox::gateway
