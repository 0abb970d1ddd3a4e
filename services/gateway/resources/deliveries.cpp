#include "gateway/resources/deliveries.hpp"

#include "common/core/text.hpp"
#include "common/json/object_reader.hpp"
#include "common/rpc/timestamp.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/path_ids.hpp"

namespace tempinbox::gateway {
namespace {

// The dispatcher has room again after at most six seconds.
constexpr std::int64_t retry_after_seconds = 6;
constexpr std::size_t max_time_length = 40;

// For operations that take neither parameters nor fields: a body may be absent or an empty object.
result<void> expect_nothing(const http::request& received)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    return body->finish();
}

result<webhooks::v1::ListDeliveriesRequest> read_list(const http::request& received,
                                                      const caller& who)
{
    auto request = read_webhook_path<webhooks::v1::ListDeliveriesRequest>(received, who);
    if (!request)
        return request.error();
    query_reader query(received);
    request->set_status(query.choice("status", "", {"pending", "succeeded", "failed"}));
    const auto page = read_page(query);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();
    set_page(*request, page);
    return request;
}

result<webhooks::v1::GetDeliveryRequest> read_one(const http::request& received, const caller& who)
{
    auto request =
        without_query(received, read_webhook_path<webhooks::v1::GetDeliveryRequest>(received, who));
    if (!request)
        return request.error();
    const auto delivery = uuid::parse(received.path_param("deliveryId"));
    if (!delivery)
        return bad_id("deliveryId", received.path_param("deliveryId"));
    request->set_delivery_id(delivery->text());
    return request;
}

result<webhooks::v1::TestWebhookRequest> read_test(const http::request& received, const caller& who)
{
    auto request = read_webhook_path<webhooks::v1::TestWebhookRequest>(received, who);
    if (!request)
        return request.error();
    auto body = read_body(received);
    if (!body)
        return body.error();
    const auto event = body->choice("event", {"email.received", "inbox.created", "inbox.expired"});
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    request->set_event_id(who.new_id<event_id>().text());
    request->set_event(event.value_or(""));
    return request;
}

result<webhooks::v1::RetryDeliveryRequest> read_retry(const http::request& received,
                                                      const caller& who)
{
    auto request = read_webhook_path<webhooks::v1::RetryDeliveryRequest>(received, who);
    if (!request)
        return request.error();
    const auto delivery = uuid::parse(received.path_param("deliveryId"));
    if (!delivery)
        return bad_id("deliveryId", received.path_param("deliveryId"));
    if (const auto nothing = expect_nothing(received); !nothing)
        return nothing.error();
    request->set_delivery_id(delivery->text());
    request->set_attempt_id(who.new_id<event_id>().text());
    return request;
}

result<webhooks::v1::ReplayDeliveriesRequest> read_replay(const http::request& received,
                                                          const caller& who)
{
    auto request = read_webhook_path<webhooks::v1::ReplayDeliveriesRequest>(received, who);
    if (!request)
        return request.error();
    auto body = read_body(received);
    if (!body)
        return body.error();
    const auto given = body->required_text("since", 1, max_time_length);
    const auto since = parse_iso8601(given);
    if (!since || *since < time_point{} || *since > who.now)
        body->fail("since must be a time in the past such as 2026-11-21T10:00:00.000Z, not " +
                   quote(given));
    const auto status = body->choice("status", {"failed", "succeeded"});
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();

    *request->mutable_since() = rpc::to_timestamp(*since);
    request->set_status(status.value_or("failed"));
    request->set_replay_id(who.new_id<event_id>().text());
    return request;
}

http::response refuse(const failure& reason)
{
    auto response = http::error_response(reason);
    if (reason.code == errc::rate_limited)
        response.set("Retry-After", retry_after_seconds);
    return response;
}

} // namespace

// GET /v1/webhooks/{webhookId}/deliveries
awaitable<http::response> list_deliveries(const http::request& received, const caller& who,
                                          webhook_client& webhooks)
{
    auto request = read_list(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto found =
        co_await webhooks.call(webhook_methods::list_deliveries, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found));
}

// GET /v1/webhooks/{webhookId}/deliveries/{deliveryId}
awaitable<http::response> get_delivery(const http::request& received, const caller& who,
                                       webhook_client& webhooks)
{
    auto request = read_one(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await webhooks.call(webhook_methods::get_delivery, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(found->delivery()));
}

// POST /v1/webhooks/{webhookId}/test
awaitable<http::response> test_webhook(const http::request& received, const caller& who,
                                       webhook_client& webhooks)
{
    auto request = read_test(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto sent = co_await webhooks.call(webhook_methods::test_webhook, std::move(*request));
    if (!sent)
        co_return refuse(sent.error());

    co_return http::ok_json(to_json(sent->delivery()));
}

awaitable<http::response> check_webhook_test(const http::request& received, const caller& who,
                                             webhook_client&)
{
    const auto request = read_test(received, who);
    if (!request)
        co_return http::error_response(request.error());

    co_return http::response(204, "", "");
}

// POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/retry
awaitable<http::response> retry_delivery(const http::request& received, const caller& who,
                                         webhook_client& webhooks)
{
    auto request = read_retry(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto sent = co_await webhooks.call(webhook_methods::retry_delivery, std::move(*request));
    if (!sent)
        co_return refuse(sent.error());

    co_return http::ok_json(to_json(sent->delivery()));
}

awaitable<http::response> check_retry(const http::request& received, const caller& who,
                                      webhook_client&)
{
    const auto request = read_retry(received, who);
    if (!request)
        co_return http::error_response(request.error());

    co_return http::response(204, "", "");
}

// POST /v1/webhooks/{webhookId}/replay
awaitable<http::response> replay_deliveries(const http::request& received, const caller& who,
                                            webhook_client& webhooks)
{
    const auto request = read_replay(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto begun = co_await webhooks.call(webhook_methods::replay_deliveries, *request);
    if (!begun)
        co_return http::error_response(begun.error());

    co_return http::ok_json(replayed_json(request->webhook_id(), begun->replayed()));
}

awaitable<http::response> check_replay(const http::request& received, const caller& who,
                                       webhook_client&)
{
    const auto request = read_replay(received, who);
    if (!request)
        co_return http::error_response(request.error());

    co_return http::response(204, "", "");
}

} // namespace tempinbox::gateway
