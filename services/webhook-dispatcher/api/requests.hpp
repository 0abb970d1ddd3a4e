#pragma once

#include "webhook-dispatcher/endpoints/url_policy.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::webhooks {

// A validated request to create a webhook, still without a secret.
struct webhook_params
{
    plans::account_state account;
    endpoint requested;
    url_target target;
};
result<webhook_params> read_params(const v1::CreateWebhookRequest& request,
                                   const url_policy& policy);

struct webhook_change_params
{
    account_id account;
    webhook_id id;
    endpoint_change change;
    std::optional<url_target> target; // of the new URL, if there is one
};
result<webhook_change_params> read_change(const v1::UpdateWebhookRequest& request,
                                          const url_policy& policy);

// From `min` to `max` characters, no control characters but tab and line breaks.
result<void> check_text(std::string_view field, std::string_view text, std::size_t min,
                        std::size_t max);

// 0 means 25.
result<int> read_limit(int given);
// An empty cursor means the first page. A cursor of the other order is invalid.
result<std::optional<endpoint_position>> read_cursor(std::string_view cursor, list_order order);
std::string make_cursor(const endpoint& last, list_order order);

v1::Webhook to_message(const endpoint& stored);

} // namespace tempinbox::webhooks
