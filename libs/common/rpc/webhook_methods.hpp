#pragma once

#include "common/rpc/method.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"
#include "tempinbox/webhooks/v1/event_service.pb.h"
#include "tempinbox/webhooks/v1/notice_service.pb.h"
#include "tempinbox/webhooks/v1/secret_service.pb.h"
#include "tempinbox/webhooks/v1/webhook_service.pb.h"

// What the webhook dispatcher is asked for, as client and server both name it.
namespace tempinbox::webhook_methods {

// Covers the whole exchange with the receiver of a webhook, and as much again for the call itself.
inline constexpr std::chrono::seconds exchange_timeout{20};

inline constexpr rpc::method<webhooks::v1::ListDeliveriesRequest,
                             webhooks::v1::ListDeliveriesResponse>
    list_deliveries{"tempinbox.webhooks.v1.DeliveryService/ListDeliveries"};
inline constexpr rpc::method<webhooks::v1::GetDeliveryRequest, webhooks::v1::GetDeliveryResponse>
    get_delivery{"tempinbox.webhooks.v1.DeliveryService/GetDelivery"};
inline constexpr rpc::method<webhooks::v1::TestWebhookRequest, webhooks::v1::TestWebhookResponse>
    test_webhook{"tempinbox.webhooks.v1.DeliveryService/TestWebhook", exchange_timeout};
inline constexpr rpc::method<webhooks::v1::RetryDeliveryRequest,
                             webhooks::v1::RetryDeliveryResponse>
    retry_delivery{"tempinbox.webhooks.v1.DeliveryService/RetryDelivery", exchange_timeout};
inline constexpr rpc::method<webhooks::v1::ReplayDeliveriesRequest,
                             webhooks::v1::ReplayDeliveriesResponse>
    replay_deliveries{"tempinbox.webhooks.v1.DeliveryService/ReplayDeliveries"};
// An email is given without its routing rather than late.
inline constexpr rpc::method<webhooks::v1::GetRoutingRequest, webhooks::v1::GetRoutingResponse>
    get_routing{"tempinbox.webhooks.v1.DeliveryService/GetRouting", std::chrono::milliseconds(200)};
// A timeline is given without its deliveries rather than late.
inline constexpr rpc::method<webhooks::v1::GetEmailDeliveriesRequest,
                             webhooks::v1::GetEmailDeliveriesResponse>
    get_email_deliveries{"tempinbox.webhooks.v1.DeliveryService/GetEmailDeliveries",
                         std::chrono::seconds(1)};

inline constexpr rpc::method<webhooks::v1::OpenFeedRequest, webhooks::v1::OpenFeedResponse>
    open_feed{"tempinbox.webhooks.v1.EventService/OpenFeed"};
inline constexpr rpc::method<webhooks::v1::ReadEventsRequest, webhooks::v1::ReadEventsResponse>
    read_events{"tempinbox.webhooks.v1.EventService/ReadEvents"};
inline constexpr rpc::method<webhooks::v1::FindPositionRequest, webhooks::v1::FindPositionResponse>
    find_position{"tempinbox.webhooks.v1.EventService/FindPosition"};
inline constexpr rpc::method<webhooks::v1::GetPositionsRequest, webhooks::v1::GetPositionsResponse>
    get_positions{"tempinbox.webhooks.v1.EventService/GetPositions", std::chrono::seconds(1)};

inline constexpr rpc::method<webhooks::v1::ClaimNoticesRequest, webhooks::v1::ClaimNoticesResponse>
    claim_notices{"tempinbox.webhooks.v1.NoticeService/ClaimNotices"};
inline constexpr rpc::method<webhooks::v1::SettleNoticeRequest, webhooks::v1::SettleNoticeResponse>
    settle_notice{"tempinbox.webhooks.v1.NoticeService/SettleNotice"};

inline constexpr rpc::method<webhooks::v1::CountSecretsRequest, webhooks::v1::CountSecretsResponse>
    count_secrets{"tempinbox.webhooks.v1.SecretService/CountSecrets"};
inline constexpr rpc::method<webhooks::v1::ResealSecretsRequest,
                             webhooks::v1::ResealSecretsResponse>
    reseal_secrets{"tempinbox.webhooks.v1.SecretService/ResealSecrets"};

inline constexpr rpc::method<webhooks::v1::CreateWebhookRequest,
                             webhooks::v1::CreateWebhookResponse>
    create_webhook{"tempinbox.webhooks.v1.WebhookService/CreateWebhook"};
inline constexpr rpc::method<webhooks::v1::GetWebhookRequest, webhooks::v1::GetWebhookResponse>
    get_webhook{"tempinbox.webhooks.v1.WebhookService/GetWebhook"};
inline constexpr rpc::method<webhooks::v1::ListWebhooksRequest, webhooks::v1::ListWebhooksResponse>
    list_webhooks{"tempinbox.webhooks.v1.WebhookService/ListWebhooks"};
inline constexpr rpc::method<webhooks::v1::UpdateWebhookRequest,
                             webhooks::v1::UpdateWebhookResponse>
    update_webhook{"tempinbox.webhooks.v1.WebhookService/UpdateWebhook"};
inline constexpr rpc::method<webhooks::v1::DeleteWebhookRequest,
                             webhooks::v1::DeleteWebhookResponse>
    delete_webhook{rpc::only_once("tempinbox.webhooks.v1.WebhookService/DeleteWebhook")};
inline constexpr rpc::method<webhooks::v1::RotateSecretRequest, webhooks::v1::RotateSecretResponse>
    rotate_secret{"tempinbox.webhooks.v1.WebhookService/RotateSecret"};
inline constexpr rpc::method<webhooks::v1::CreateRuleRequest, webhooks::v1::CreateRuleResponse>
    create_rule{"tempinbox.webhooks.v1.WebhookService/CreateRule"};
inline constexpr rpc::method<webhooks::v1::GetRuleRequest, webhooks::v1::GetRuleResponse> get_rule{
    "tempinbox.webhooks.v1.WebhookService/GetRule"};
inline constexpr rpc::method<webhooks::v1::ListRulesRequest, webhooks::v1::ListRulesResponse>
    list_rules{"tempinbox.webhooks.v1.WebhookService/ListRules"};
inline constexpr rpc::method<webhooks::v1::UpdateRuleRequest, webhooks::v1::UpdateRuleResponse>
    update_rule{"tempinbox.webhooks.v1.WebhookService/UpdateRule"};
inline constexpr rpc::method<webhooks::v1::DeleteRuleRequest, webhooks::v1::DeleteRuleResponse>
    delete_rule{rpc::only_once("tempinbox.webhooks.v1.WebhookService/DeleteRule")};
inline constexpr rpc::method<webhooks::v1::TestRulesRequest, webhooks::v1::TestRulesResponse>
    test_rules{"tempinbox.webhooks.v1.WebhookService/TestRules"};
inline constexpr rpc::method<webhooks::v1::CountDeliveriesRequest,
                             webhooks::v1::CountDeliveriesResponse>
    count_deliveries{"tempinbox.webhooks.v1.WebhookService/CountDeliveries"};

} // namespace tempinbox::webhook_methods
