#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/service_client.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::gateway {

// The webhook dispatcher as the API sees it.
class webhook_client
{
public:
    webhook_client(runtime::host& host, std::vector<host_port> replicas, rpc::tokens& tokens)
        : service_(host, "webhook-dispatcher", std::move(replicas), tokens)
    {}

    template <class T>
    using answer = awaitable<result<T>>;

    answer<webhooks::v1::CreateWebhookResponse> create(webhooks::v1::CreateWebhookRequest request)
    {
        return call<webhooks::v1::CreateWebhookResponse>("tempinbox.webhooks.v1.WebhookService/CreateWebhook",
                                                         std::move(request));
    }
    answer<webhooks::v1::GetWebhookResponse> find(webhooks::v1::GetWebhookRequest request)
    {
        return call<webhooks::v1::GetWebhookResponse>("tempinbox.webhooks.v1.WebhookService/GetWebhook", std::move(request));
    }
    answer<webhooks::v1::ListWebhooksResponse> list(webhooks::v1::ListWebhooksRequest request)
    {
        return call<webhooks::v1::ListWebhooksResponse>("tempinbox.webhooks.v1.WebhookService/ListWebhooks", std::move(request));
    }
    answer<webhooks::v1::DeleteWebhookResponse> remove(webhooks::v1::DeleteWebhookRequest request)
    {
        return call<webhooks::v1::DeleteWebhookResponse>("tempinbox.webhooks.v1.WebhookService/DeleteWebhook",
                                                         std::move(request));
    }
    answer<webhooks::v1::UpdateWebhookResponse> change(webhooks::v1::UpdateWebhookRequest request)
    {
        return call<webhooks::v1::UpdateWebhookResponse>("tempinbox.webhooks.v1.WebhookService/UpdateWebhook",
                                                         std::move(request));
    }
    answer<webhooks::v1::RotateSecretResponse> rotate_secret(webhooks::v1::RotateSecretRequest request)
    {
        return call<webhooks::v1::RotateSecretResponse>("tempinbox.webhooks.v1.WebhookService/RotateSecret", std::move(request));
    }
    answer<webhooks::v1::CreateRuleResponse> create_rule(webhooks::v1::CreateRuleRequest request)
    {
        return call<webhooks::v1::CreateRuleResponse>("tempinbox.webhooks.v1.WebhookService/CreateRule", std::move(request));
    }
    answer<webhooks::v1::GetRuleResponse> find_rule(webhooks::v1::GetRuleRequest request)
    {
        return call<webhooks::v1::GetRuleResponse>("tempinbox.webhooks.v1.WebhookService/GetRule", std::move(request));
    }
    answer<webhooks::v1::ListRulesResponse> list_rules(webhooks::v1::ListRulesRequest request)
    {
        return call<webhooks::v1::ListRulesResponse>("tempinbox.webhooks.v1.WebhookService/ListRules", std::move(request));
    }
    answer<webhooks::v1::UpdateRuleResponse> change_rule(webhooks::v1::UpdateRuleRequest request)
    {
        return call<webhooks::v1::UpdateRuleResponse>("tempinbox.webhooks.v1.WebhookService/UpdateRule", std::move(request));
    }
    answer<webhooks::v1::DeleteRuleResponse> remove_rule(webhooks::v1::DeleteRuleRequest request)
    {
        return call<webhooks::v1::DeleteRuleResponse>("tempinbox.webhooks.v1.WebhookService/DeleteRule", std::move(request));
    }
    answer<webhooks::v1::TestRulesResponse> test_rules(webhooks::v1::TestRulesRequest request)
    {
        return call<webhooks::v1::TestRulesResponse>("tempinbox.webhooks.v1.WebhookService/TestRules", std::move(request));
    }
    answer<webhooks::v1::CountDeliveriesResponse> count_deliveries(webhooks::v1::CountDeliveriesRequest request)
    {
        return call<webhooks::v1::CountDeliveriesResponse>("tempinbox.webhooks.v1.WebhookService/CountDeliveries",
                                                           std::move(request));
    }

private:
    template <class Response, class Request>
    answer<Response> call(const char* method, Request request)
    {
        return service_.call<Response>(method, std::move(request));
    }

    service_client service_;
};

} // namespace tempinbox::gateway
