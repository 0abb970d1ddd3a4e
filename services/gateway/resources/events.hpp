#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/long_poll/feed_hub.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/routes/routes.hpp"

namespace tempinbox::gateway {

// What the feed of an account is read from; outlives the operation.
struct feed_services
{
    inbox_client& inboxes;
    webhook_client& webhooks;
    feed_hub& feeds;
    long_poll_hub& long_polls; // readers that wait count among its requests
    response_budget& memory;
};

awaitable<http::response> list_events(http::request& received, const caller& who,
                                      feed_services services);

} // namespace tempinbox::gateway
