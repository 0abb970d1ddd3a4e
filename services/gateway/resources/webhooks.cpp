#include "gateway/resources/webhooks.hpp"

#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/path_ids.hpp"
#include "gateway/resources/webhook_fields.hpp"

namespace tempinbox::gateway {
namespace {

// Reads the body of POST /v1/webhooks. The dispatcher decides which addresses it may call.
result<webhooks::v1::CreateWebhookRequest> read_new_webhook(const http::request& received,
                                                            const caller& who)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    const auto url = body->required_text("url", 1, max_webhook_url_length);
    const auto events = read_events(*body).value_or(all_events());
    const auto description = body->text("description", 0, max_webhook_description_length);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();

    webhooks::v1::CreateWebhookRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    request.set_webhook_id(who.new_id<webhook_id>().text());
    request.set_url(url);
    request.mutable_events()->Assign(events.begin(), events.end());
    request.set_description(description.value_or(""));
    return request;
}

result<webhooks::v1::ListWebhooksRequest> read_list(const http::request& received,
                                                    const caller& who)
{
    query_reader query(received);
    const auto page = read_page(query);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    webhooks::v1::ListWebhooksRequest list;
    list.set_account_id(who.account().text());
    set_page(list, page);
    return list;
}

} // namespace

// POST /v1/webhooks
awaitable<http::response> create_webhook(const http::request& received, const caller& who,
                                         webhook_client& webhooks)
{
    auto request = read_new_webhook(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto created =
        co_await webhooks.call(webhook_methods::create_webhook, std::move(*request));
    if (!created)
        co_return http::error_response(created.error());

    co_return http::created_json(to_json(*created),
                                 who.location_of("webhooks", created->webhook().webhook_id()));
}

awaitable<http::response> check_new_webhook(const http::request& received, const caller& who,
                                            webhook_client& webhooks)
{
    auto request = read_new_webhook(received, who);
    if (!request)
        co_return http::error_response(request.error());
    request->set_check_only(true);

    const auto checked =
        co_await webhooks.call(webhook_methods::create_webhook, std::move(*request));
    if (!checked)
        co_return http::error_response(checked.error());

    co_return http::response(204, "", "");
}

// GET /v1/webhooks
awaitable<http::response> list_webhooks(const http::request& received, const caller& who,
                                        webhook_client& webhooks)
{
    auto request = read_list(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await webhooks.call(webhook_methods::list_webhooks, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found));
}

// GET /v1/webhooks/{webhookId}
awaitable<http::response> get_webhook(const http::request& received, const caller& who,
                                      webhook_client& webhooks)
{
    auto request =
        without_query(received, read_webhook_path<webhooks::v1::GetWebhookRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await webhooks.call(webhook_methods::get_webhook, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(found->webhook()));
}

// DELETE /v1/webhooks/{webhookId}
awaitable<http::response> delete_webhook(const http::request& received, const caller& who,
                                         webhook_client& webhooks)
{
    const auto request = without_query(
        received, read_webhook_path<webhooks::v1::DeleteWebhookRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto deleted = co_await webhooks.call(webhook_methods::delete_webhook, *request);
    if (!deleted)
        co_return http::error_response(deleted.error());

    co_return http::ok_json(deleted_json("webhookId", request->webhook_id()));
}

} // namespace tempinbox::gateway
