#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/service_client.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"
#include "tempinbox/webhooks/v1/notice_service.pb.h"
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
    using awaitable_result = awaitable<result<T>>;

    awaitable_result<webhooks::v1::CreateWebhookResponse>
    create(webhooks::v1::CreateWebhookRequest request)
    {
        return call<webhooks::v1::CreateWebhookResponse>(
            "tempinbox.webhooks.v1.WebhookService/CreateWebhook", std::move(request));
    }
    awaitable_result<webhooks::v1::GetWebhookResponse> find(webhooks::v1::GetWebhookRequest request)
    {
        return call<webhooks::v1::GetWebhookResponse>(
            "tempinbox.webhooks.v1.WebhookService/GetWebhook", std::move(request));
    }
    awaitable_result<webhooks::v1::ListWebhooksResponse>
    list(webhooks::v1::ListWebhooksRequest request)
    {
        return call<webhooks::v1::ListWebhooksResponse>(
            "tempinbox.webhooks.v1.WebhookService/ListWebhooks", std::move(request));
    }
    awaitable_result<webhooks::v1::DeleteWebhookResponse>
    remove(webhooks::v1::DeleteWebhookRequest request)
    {
        return call<webhooks::v1::DeleteWebhookResponse>(
            "tempinbox.webhooks.v1.WebhookService/DeleteWebhook", std::move(request));
    }
    awaitable_result<webhooks::v1::UpdateWebhookResponse>
    change(webhooks::v1::UpdateWebhookRequest request)
    {
        return call<webhooks::v1::UpdateWebhookResponse>(
            "tempinbox.webhooks.v1.WebhookService/UpdateWebhook", std::move(request));
    }
    awaitable_result<webhooks::v1::RotateSecretResponse>
    rotate_secret(webhooks::v1::RotateSecretRequest request)
    {
        return call<webhooks::v1::RotateSecretResponse>(
            "tempinbox.webhooks.v1.WebhookService/RotateSecret", std::move(request));
    }
    awaitable_result<webhooks::v1::CreateRuleResponse>
    create_rule(webhooks::v1::CreateRuleRequest request)
    {
        return call<webhooks::v1::CreateRuleResponse>(
            "tempinbox.webhooks.v1.WebhookService/CreateRule", std::move(request));
    }
    awaitable_result<webhooks::v1::GetRuleResponse> find_rule(webhooks::v1::GetRuleRequest request)
    {
        return call<webhooks::v1::GetRuleResponse>("tempinbox.webhooks.v1.WebhookService/GetRule",
                                                   std::move(request));
    }
    awaitable_result<webhooks::v1::ListRulesResponse>
    list_rules(webhooks::v1::ListRulesRequest request)
    {
        return call<webhooks::v1::ListRulesResponse>(
            "tempinbox.webhooks.v1.WebhookService/ListRules", std::move(request));
    }
    awaitable_result<webhooks::v1::UpdateRuleResponse>
    change_rule(webhooks::v1::UpdateRuleRequest request)
    {
        return call<webhooks::v1::UpdateRuleResponse>(
            "tempinbox.webhooks.v1.WebhookService/UpdateRule", std::move(request));
    }
    awaitable_result<webhooks::v1::DeleteRuleResponse>
    remove_rule(webhooks::v1::DeleteRuleRequest request)
    {
        return call<webhooks::v1::DeleteRuleResponse>(
            "tempinbox.webhooks.v1.WebhookService/DeleteRule", std::move(request));
    }
    awaitable_result<webhooks::v1::TestRulesResponse>
    test_rules(webhooks::v1::TestRulesRequest request)
    {
        return call<webhooks::v1::TestRulesResponse>(
            "tempinbox.webhooks.v1.WebhookService/TestRules", std::move(request));
    }
    awaitable_result<webhooks::v1::CountDeliveriesResponse>
    count_deliveries(webhooks::v1::CountDeliveriesRequest request)
    {
        return call<webhooks::v1::CountDeliveriesResponse>(
            "tempinbox.webhooks.v1.WebhookService/CountDeliveries", std::move(request));
    }

    awaitable_result<webhooks::v1::ListDeliveriesResponse>
    list_deliveries(webhooks::v1::ListDeliveriesRequest request)
    {
        return call<webhooks::v1::ListDeliveriesResponse>(
            "tempinbox.webhooks.v1.DeliveryService/ListDeliveries", std::move(request));
    }
    // These two calls wait for the receiver's endpoint.
    awaitable_result<webhooks::v1::TestWebhookResponse>
    test(webhooks::v1::TestWebhookRequest request)
    {
        return service_.call<webhooks::v1::TestWebhookResponse>(
            "tempinbox.webhooks.v1.DeliveryService/TestWebhook", std::move(request),
            exchange_deadline);
    }
    awaitable_result<webhooks::v1::RetryDeliveryResponse>
    retry(webhooks::v1::RetryDeliveryRequest request)
    {
        return service_.call<webhooks::v1::RetryDeliveryResponse>(
            "tempinbox.webhooks.v1.DeliveryService/RetryDelivery", std::move(request),
            exchange_deadline);
    }
    awaitable_result<webhooks::v1::ReplayDeliveriesResponse>
    replay(webhooks::v1::ReplayDeliveriesRequest request)
    {
        return call<webhooks::v1::ReplayDeliveriesResponse>(
            "tempinbox.webhooks.v1.DeliveryService/ReplayDeliveries", std::move(request));
    }
    awaitable_result<webhooks::v1::GetRoutingResponse>
    find_routing(webhooks::v1::GetRoutingRequest request)
    {
        return service_.try_call<webhooks::v1::GetRoutingResponse>(
            "tempinbox.webhooks.v1.DeliveryService/GetRouting", std::move(request),
            routing_deadline);
    }

    // Not on behalf of an API caller: the code that calls these two logs their errors.
    awaitable_result<webhooks::v1::ClaimNoticesResponse>
    claim_notices(webhooks::v1::ClaimNoticesRequest request)
    {
        return service_.try_call<webhooks::v1::ClaimNoticesResponse>(
            "tempinbox.webhooks.v1.NoticeService/ClaimNotices", std::move(request),
            notice_deadline);
    }
    awaitable_result<webhooks::v1::SettleNoticeResponse>
    settle_notice(webhooks::v1::SettleNoticeRequest request)
    {
        return service_.try_call<webhooks::v1::SettleNoticeResponse>(
            "tempinbox.webhooks.v1.NoticeService/SettleNotice", std::move(request),
            notice_deadline);
    }

private:
    // Covers the whole exchange with the receiver, and as much again for the calls themselves.
    static constexpr std::chrono::seconds exchange_deadline{20};
    // An email is given without its routing rather than late.
    static constexpr std::chrono::milliseconds routing_deadline{200};
    static constexpr std::chrono::seconds notice_deadline{5};

    template <class Response, class Request>
    awaitable_result<Response> call(const char* method, Request request)
    {
        return service_.call<Response>(method, std::move(request));
    }

    service_client service_;
};

} // namespace tempinbox::gateway
