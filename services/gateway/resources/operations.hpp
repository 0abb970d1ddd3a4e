#pragma once

#include "accounts/account_repository.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/list_cache.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/json/capture.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/routes/routes.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// The services that operations call; outlives the operations.
struct operation_services
{
    accounts::account_repository& accounts;
    inbox_client& inboxes;
    webhook_client& webhooks;
    rate_limit_client& quotas;
    list_cache& lists;
    response_budget& response_memory;
    long_poll_hub& long_polls;
    capture_server captures;
};

// The routes of inboxes, emails, webhooks and account below a root such as `/v1`, each with the
// scope that a key needs for it. Each root has its own pipeline, which identifies the caller; the
// operations are the same.
std::vector<route> operations_below(const std::string& root, const operation_services& services);

} // namespace tempinbox::gateway
