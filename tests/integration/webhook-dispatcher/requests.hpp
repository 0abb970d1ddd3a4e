#pragma once

#include "integration/webhook-dispatcher/suite.hpp"

#include <string>

namespace tempinbox::testing {

// The error of a result; none if it is a value.
template <class T>
failure error_of(const result<T>& outcome)
{
    return outcome ? failure{} : outcome.error();
}

inline webhooks::v1::UpdateWebhookRequest change_of(account_id account, const std::string& webhook)
{
    webhooks::v1::UpdateWebhookRequest request;
    request.set_account_id(account.text());
    request.set_webhook_id(webhook);
    return request;
}

inline webhooks::v1::UpdateWebhookRequest switch_of(account_id account, const std::string& webhook,
                                                    bool is_enabled)
{
    auto request = change_of(account, webhook);
    request.set_is_enabled(is_enabled);
    return request;
}

inline webhooks::v1::RotateSecretRequest rotation_of(account_id account, const std::string& webhook)
{
    webhooks::v1::RotateSecretRequest request;
    request.set_account_id(account.text());
    request.set_webhook_id(webhook);
    request.set_rotation_id(uuid::make_v7().text());
    return request;
}

inline webhooks::v1::UpdateRuleRequest rule_change_of(account_id account, const std::string& rule)
{
    webhooks::v1::UpdateRuleRequest request;
    *request.mutable_account() = account_on_plan(account, 5, 20);
    request.set_rule_id(rule);
    return request;
}

inline webhooks::v1::GetRuleRequest get_rule_request(account_id account, const std::string& rule)
{
    webhooks::v1::GetRuleRequest request;
    request.set_account_id(account.text());
    request.set_rule_id(rule);
    return request;
}

} // namespace tempinbox::testing
