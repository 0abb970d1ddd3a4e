#include "webhook-dispatcher/api/delivery_rpc.hpp"

#include "common/rpc/webhook_methods.hpp"
#include "webhook-dispatcher/api/delivery_requests.hpp"
#include "webhook-dispatcher/storage/delivery_id.hpp"

#include "common/core/text.hpp"

namespace tempinbox::webhooks {
namespace {

// Emails of one statement.
constexpr std::size_t max_routings = 100;

} // namespace

delivery_rpc::delivery_rpc(runtime::host& host, delivery_repository& deliveries,
                           replay_repository& replays, manual_sender& sender, replayer& moving)
    : host_(host),
      deliveries_(deliveries),
      replays_(replays),
      sender_(sender),
      moving_(moving),
      routings_(host.executor(), {.max_in_flight = 2, .max_items = max_routings},
                "routings not read", [&deliveries](std::vector<email_name> emails) {
                    return deliveries.find_routings(std::move(emails));
                })
{}

void delivery_rpc::add_to(rpc::server& server)
{
    server.add(webhook_methods::list_deliveries, *this, &delivery_rpc::list);
    server.add(webhook_methods::get_delivery, *this, &delivery_rpc::get);
    server.add(webhook_methods::test_webhook, *this, &delivery_rpc::test);
    server.add(webhook_methods::retry_delivery, *this, &delivery_rpc::retry);
    server.add(webhook_methods::replay_deliveries, *this, &delivery_rpc::replay);
    server.add(webhook_methods::get_routing, *this, &delivery_rpc::get_routing);
    server.add(webhook_methods::get_email_deliveries, *this, &delivery_rpc::get_email_deliveries);
}

awaitable<result<v1::ListDeliveriesResponse>> delivery_rpc::list(v1::ListDeliveriesRequest request)
{
    const auto params = read_params(request);
    if (!params)
        co_return params.error();
    const auto page = co_await deliveries_.list(params->account, params->webhook, params->status,
                                                params->order, params->position, params->limit);
    if (!page)
        co_return page.error();
    v1::ListDeliveriesResponse response;
    for (const auto& delivery : page->deliveries)
        *response.add_deliveries() = to_message(delivery);
    if (page->next)
        response.set_next_cursor(make_log_cursor(*params, *page->next));
    co_return response;
}

awaitable<result<v1::GetDeliveryResponse>> delivery_rpc::get(v1::GetDeliveryRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        co_return webhook.error();
    const auto delivery = uuid::parse(request.delivery_id());
    if (!delivery)
        co_return bad_id("deliveryId", request.delivery_id());
    const auto found = co_await deliveries_.find(*account, *webhook, event_of(*delivery, *webhook));
    if (!found)
        co_return found.error();
    v1::GetDeliveryResponse response;
    *response.mutable_delivery() = to_message(*found);
    co_return response;
}

awaitable<result<v1::TestWebhookResponse>> delivery_rpc::test(v1::TestWebhookRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        co_return webhook.error();
    const auto event = event_id::parse(request.event_id());
    if (!event)
        co_return event.error();
    std::optional<event_kind> kind;
    if (!request.event().empty()) {
        const auto named = parse_event_kind(request.event());
        if (!named)
            co_return failure(errc::invalid_argument, "event " + named.error().message);
        kind = *named;
    }
    const auto sent = co_await sender_.test(*account, *webhook, *event, kind);
    if (!sent)
        co_return sent.error();
    const auto delivery = co_await deliveries_.find(*account, *webhook, *event);
    if (!delivery)
        co_return delivery.error();
    v1::TestWebhookResponse response;
    *response.mutable_delivery() = to_message(*delivery);
    co_return response;
}

awaitable<result<v1::RetryDeliveryResponse>> delivery_rpc::retry(v1::RetryDeliveryRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        co_return webhook.error();
    const auto delivery = uuid::parse(request.delivery_id());
    if (!delivery)
        co_return bad_id("deliveryId", request.delivery_id());
    const auto attempt = uuid::parse(request.attempt_id());
    if (!attempt)
        co_return failure(errc::invalid_argument,
                          "attempt_id must be a UUID, not " + quote(request.attempt_id()));
    const auto event = event_of(*delivery, *webhook);
    const auto sent = co_await sender_.retry(*account, *webhook, event, *attempt);
    if (!sent)
        co_return sent.error();
    const auto logged = co_await deliveries_.find(*account, *webhook, event);
    if (!logged)
        co_return logged.error();
    v1::RetryDeliveryResponse response;
    *response.mutable_delivery() = to_message(*logged);
    co_return response;
}

awaitable<result<v1::ReplayDeliveriesResponse>>
delivery_rpc::replay(v1::ReplayDeliveriesRequest request)
{
    auto params = read_params(request, host_.clock().now());
    if (!params)
        co_return params.error();
    const auto to = co_await sender_.find_receiver(params->account, params->webhook);
    if (!to)
        co_return to.error();
    const webhook_key webhook{params->account, params->webhook};
    const auto counted = co_await replays_.begin(std::move(*params));
    if (!counted)
        co_return counted.error();
    moving_.step_soon(webhook);
    v1::ReplayDeliveriesResponse response;
    response.set_replayed(*counted);
    co_return response;
}

awaitable<result<v1::GetRoutingResponse>> delivery_rpc::get_routing(v1::GetRoutingRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto email = event_id::parse(request.email_id());
    if (!email)
        co_return email.error();
    const auto routing = co_await routings_.ask(email_name(*account, *email));
    if (!routing)
        co_return failure(errc::unavailable, "The routing cannot be read now");
    if (!*routing)
        co_return routing->error();
    const auto& rules = **routing;
    v1::GetRoutingResponse response;
    response.set_is_known(rules.has_value());
    if (rules) {
        for (const auto& match : *rules) {
            auto& rule = *response.add_rules();
            rule.set_rule_id(match.rule.text());
            rule.set_matched(match.matched);
        }
    }
    co_return response;
}

awaitable<result<v1::GetEmailDeliveriesResponse>>
delivery_rpc::get_email_deliveries(v1::GetEmailDeliveriesRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto email = event_id::parse(request.email_id());
    if (!email)
        co_return email.error();
    co_return to_message(co_await deliveries_.find_email_deliveries(*account, *email), *email);
}

} // namespace tempinbox::webhooks
