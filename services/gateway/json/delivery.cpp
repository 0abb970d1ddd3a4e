#include "gateway/json/resources.hpp"

#include "gateway/json/fields.hpp"

namespace tempinbox::gateway {
namespace {

void put_attempt(json::writer& out, const webhooks::v1::DeliveryAttempt& attempt)
{
    out.begin_object();
    put_time(out, "at", attempt.has_at(), attempt.at());
    if (attempt.has_status_code())
        out.member("statusCode", attempt.status_code());
    else
        out.null_member("statusCode");
    out.member("durationMs", attempt.duration_ms());
    put_text(out, "error", attempt.has_error(), attempt.error());
    put_text(out, "responseBody", attempt.has_response_body(), attempt.response_body());
    out.end_object();
}

void put_delivery(json::writer& out, const webhooks::v1::Delivery& delivery)
{
    out.begin_object();
    out.member("deliveryId", delivery.delivery_id());
    out.member("webhookId", delivery.webhook_id());
    out.member("eventId", delivery.event_id());
    out.member("event", delivery.event());
    out.member("status", delivery.status());
    put_objects(out, "attempts", delivery.attempts(), put_attempt);
    put_time(out, "nextAttemptAt", delivery.has_next_attempt_at(), delivery.next_attempt_at());
    put_time(out, "createdAt", delivery.has_created_at(), delivery.created_at());
    put_texts(out, "ruleIds", delivery.rule_ids());
    out.end_object();
}

} // namespace

std::string to_json(const webhooks::v1::Delivery& delivery)
{
    json::writer out;
    put_delivery(out, delivery);
    return out.take();
}

std::string to_json(const webhooks::v1::ListDeliveriesResponse& list)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "deliveries", list.deliveries(), put_delivery);
    put_cursor(out, list.next_cursor());
    out.end_object();
    return out.take();
}

std::string replayed_json(std::string_view webhook, std::int64_t deliveries)
{
    json::writer out;
    out.begin_object()
        .member("webhookId", webhook)
        .member("replayedCount", deliveries)
        .end_object();
    return out.take();
}

} // namespace tempinbox::gateway
