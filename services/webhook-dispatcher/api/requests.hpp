#pragma once

#include "webhook-dispatcher/endpoints/endpoint_store.hpp"
#include "webhook-dispatcher/endpoints/url_policy.hpp"
#include "webhook-dispatcher/routing/rule_store.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::webhooks {

// A request to make a webhook, checked; the secret is not chosen yet.
struct webhook_wish
{
    plans::account_state account;
    endpoint wanted;
    url_target target;
};
result<webhook_wish> read_wish(const v1::CreateWebhookRequest& request, const url_policy& policy);

struct rule_wish
{
    plans::account_state account;
    rules::rule wanted;
};
result<rule_wish> read_wish(const v1::CreateRuleRequest& request);

// 0 stands for 25.
result<int> read_limit(int given);
// Empty: from the start.
result<std::optional<endpoint_position>> read_cursor(std::string_view cursor);
std::string make_cursor(const endpoint& last);

v1::Webhook to_message(const endpoint& stored);
v1::Rule to_message(const stored_rule& stored);

} // namespace tempinbox::webhooks
