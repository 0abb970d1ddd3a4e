#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/webhook_fields.hpp"
#include "gateway/resources/webhooks.hpp"

namespace tempinbox::gateway {
namespace {

constexpr const char* fields[] = {"url", "events", "description", "isEnabled"};

// RFC 7396: null restores a new webhook's default. The URL has none and cannot be null.
result<webhooks::v1::UpdateWebhookRequest> read_change(const http::request& received,
                                                       const caller& who)
{
    const auto id = webhook_id::parse(received.path_param("webhookId"));
    if (!id)
        return id.error();
    auto body = read_body(received);
    if (!body)
        return body.error();

    webhooks::v1::UpdateWebhookRequest request;
    request.set_account_id(who.account().text());
    request.set_webhook_id(id->text());
    if (body->has_null("url"))
        body->fail("url must be a string of 1 to " + std::to_string(max_webhook_url_length) +
                   " characters, not null");
    if (const auto url = body->text("url", 1, max_webhook_url_length))
        request.set_url(*url);
    if (body->has_null("events"))
        request.mutable_events();
    if (const auto events = read_events(*body))
        request.mutable_events()->mutable_events()->Assign(events->begin(), events->end());
    if (body->has_null("description"))
        request.set_description("");
    if (const auto description = body->text("description", 0, max_webhook_description_length))
        request.set_description(*description);
    if (body->has_null("isEnabled"))
        body->fail("isEnabled must be true or false, not null");
    if (const auto is_enabled = body->boolean("isEnabled"))
        request.set_is_enabled(*is_enabled);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (std::none_of(std::begin(fields), std::end(fields),
                     [&](const char* field) { return body->has(field) || body->has_null(field); }))
        return failure{errc::invalid_argument,
                       "body must have at least one of url, events, description, isEnabled"};
    return request;
}

// The body has no fields. A retry with the same Idempotency-Key is the same rotation.
result<webhooks::v1::RotateSecretRequest> read_rotation(const http::request& received,
                                                        const caller& who)
{
    const auto id = webhook_id::parse(received.path_param("webhookId"));
    if (!id)
        return id.error();
    auto body = read_body(received);
    if (!body)
        return body.error();
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();

    webhooks::v1::RotateSecretRequest request;
    request.set_account_id(who.account().text());
    request.set_webhook_id(id->text());
    request.set_rotation_id(who.chosen_id.value_or(uuid::make_v7()).text());
    return request;
}

} // namespace

// PATCH /v1/webhooks/{webhookId}
awaitable<http::response> update_webhook(const http::request& received, const caller& who,
                                         webhook_client& webhooks)
{
    auto request = read_change(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto changed =
        co_await webhooks.call(webhook_methods::update_webhook, std::move(*request));
    if (!changed)
        co_return http::error_response(changed.error());

    co_return http::ok_json(to_json(changed->webhook()));
}

// POST /v1/webhooks/{webhookId}/rotate-secret
awaitable<http::response> rotate_webhook_secret(const http::request& received, const caller& who,
                                                webhook_client& webhooks)
{
    const auto request = read_rotation(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto rotated = co_await webhooks.call(webhook_methods::rotate_secret, *request);
    if (!rotated)
        co_return http::error_response(rotated.error());

    co_return http::ok_json(to_json(*rotated, request->webhook_id()));
}

awaitable<http::response> check_rotation(const http::request& received, const caller& who,
                                         webhook_client&)
{
    const auto request = read_rotation(received, who);
    if (!request)
        co_return http::error_response(request.error());

    co_return http::response(204, "", "");
}

} // namespace tempinbox::gateway
