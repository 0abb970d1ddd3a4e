#include "gateway/json/resources.hpp"

#include "gateway/json/fields.hpp"

namespace tempinbox::gateway {
namespace {

void put_webhook_members(json::writer& out, const webhooks::v1::Webhook& webhook)
{
    out.member("webhookId", webhook.webhook_id());
    out.member("url", webhook.url());
    put_texts(out, "events", webhook.events());
    out.member("description", webhook.description());
    out.member("isEnabled", webhook.is_enabled());
    put_text(out, "disabledReason", webhook.has_disabled_reason(), webhook.disabled_reason());
    put_time(out, "createdAt", webhook.has_created_at(), webhook.created_at());
}

void put_webhook(json::writer& out, const webhooks::v1::Webhook& webhook)
{
    out.begin_object();
    put_webhook_members(out, webhook);
    out.end_object();
}

} // namespace

std::string to_json(const webhooks::v1::Webhook& webhook)
{
    json::writer out;
    put_webhook(out, webhook);
    return out.take();
}

std::string to_json(const webhooks::v1::CreateWebhookResponse& created)
{
    json::writer out;
    out.begin_object();
    put_webhook_members(out, created.webhook());
    out.member("secret", created.secret());
    out.end_object();
    return out.take();
}

std::string to_json(const webhooks::v1::ListWebhooksResponse& list)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "webhooks", list.webhooks(), put_webhook);
    put_cursor(out, list.next_cursor());
    out.end_object();
    return out.take();
}

std::string to_json(const webhooks::v1::RotateSecretResponse& rotated, std::string_view webhook_id)
{
    json::writer out;
    out.begin_object();
    out.member("webhookId", webhook_id);
    out.member("secret", rotated.secret());
    put_time(out, "previousSecretExpiresAt", rotated.has_previous_valid_until(),
             rotated.previous_valid_until());
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway
