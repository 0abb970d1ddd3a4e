#include "gateway/api/deliveries.hpp"

#include "common/core/text.hpp"
#include "common/json/object_reader.hpp"
#include "gateway/api/json.hpp"
#include "gateway/api/path_ids.hpp"
#include "gateway/api/query_reader.hpp"

namespace tempinbox::gateway {
namespace {

// Room is free again after six seconds at most.
constexpr std::int64_t seconds_until_room = 6;
constexpr std::size_t longest_time = 40;

// For operations that take neither parameters nor fields: a body may be absent or an empty object.
result<void> expect_nothing(const http::request& received)
{
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    auto body = json::object_reader::parse(received.body);
    if (!body)
        return body.error();
    return body->finish();
}

result<webhooks::v1::ListDeliveriesRequest> read_list(const http::request& received,
                                                      const caller& who)
{
    auto wanted = read_webhook_path<webhooks::v1::ListDeliveriesRequest>(received, who);
    if (!wanted)
        return wanted.error();
    query_reader query(received);
    wanted->set_status(query.choice("status", "", {"pending", "succeeded", "failed"}));
    const auto page = read_page(query);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();
    wanted->set_limit(page.limit);
    wanted->set_cursor(page.cursor);
    return wanted;
}

result<webhooks::v1::TestWebhookRequest> read_test(const http::request& received, const caller& who)
{
    auto wanted = read_webhook_path<webhooks::v1::TestWebhookRequest>(received, who);
    if (!wanted)
        return wanted.error();
    if (const auto nothing = expect_nothing(received); !nothing)
        return nothing.error();
    wanted->set_event_id(who.new_id<event_id>().text());
    return wanted;
}

result<webhooks::v1::RetryDeliveryRequest> read_retry(const http::request& received,
                                                      const caller& who)
{
    auto wanted = read_webhook_path<webhooks::v1::RetryDeliveryRequest>(received, who);
    if (!wanted)
        return wanted.error();
    const auto delivery = uuid::parse(received.path_param("deliveryId"));
    if (!delivery)
        return bad_id("deliveryId", received.path_param("deliveryId"));
    if (const auto nothing = expect_nothing(received); !nothing)
        return nothing.error();
    wanted->set_delivery_id(delivery->text());
    wanted->set_attempt_id(who.new_id<event_id>().text());
    return wanted;
}

void set_time(google::protobuf::Timestamp& stamp, time_point time)
{
    const auto micros = to_unix_micros(time);
    stamp.set_seconds(micros / 1'000'000);
    stamp.set_nanos(static_cast<int>(micros % 1'000'000) * 1'000);
}

result<webhooks::v1::ReplayDeliveriesRequest> read_replay(const http::request& received,
                                                          const caller& who)
{
    auto wanted = read_webhook_path<webhooks::v1::ReplayDeliveriesRequest>(received, who);
    if (!wanted)
        return wanted.error();
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    auto body = json::object_reader::parse(received.body);
    if (!body)
        return body.error();
    const auto given = body->required_text("since", 1, longest_time);
    const auto since = parse_iso8601(given);
    if (!since || *since < time_point{} || *since > who.now)
        body->fail("since must be a time in the past such as 2026-11-21T10:00:00.000Z, not " +
                   quote(given));
    const auto status = body->choice("status", {"failed", "succeeded"});
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();

    set_time(*wanted->mutable_since(), *since);
    wanted->set_status(status.value_or("failed"));
    wanted->set_replay_id(who.new_id<event_id>().text());
    return wanted;
}

http::response refuse(const failure& reason)
{
    auto answer = http::error_response(reason);
    if (reason.code == errc::rate_limited)
        answer.set("Retry-After", seconds_until_room);
    return answer;
}

} // namespace

// GET /v1/webhooks/{webhookId}/deliveries
awaitable<http::response> list_deliveries(const http::request& received, const caller& who,
                                          webhook_client& webhooks)
{
    auto wanted = read_list(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    const auto found = co_await webhooks.list_deliveries(std::move(*wanted));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found));
}

// POST /v1/webhooks/{webhookId}/test
awaitable<http::response> test_webhook(const http::request& received, const caller& who,
                                       webhook_client& webhooks)
{
    auto wanted = read_test(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    const auto sent = co_await webhooks.test(std::move(*wanted));
    if (!sent)
        co_return refuse(sent.error());

    co_return http::ok_json(to_json(sent->delivery()));
}

awaitable<http::response> check_webhook_test(const http::request& received, const caller& who,
                                             webhook_client&)
{
    const auto wanted = read_test(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    co_return http::response(204, "", "");
}

// POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/retry
awaitable<http::response> retry_delivery(const http::request& received, const caller& who,
                                         webhook_client& webhooks)
{
    auto wanted = read_retry(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    const auto sent = co_await webhooks.retry(std::move(*wanted));
    if (!sent)
        co_return refuse(sent.error());

    co_return http::ok_json(to_json(sent->delivery()));
}

awaitable<http::response> check_retry(const http::request& received, const caller& who,
                                      webhook_client&)
{
    const auto wanted = read_retry(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    co_return http::response(204, "", "");
}

// POST /v1/webhooks/{webhookId}/replay
awaitable<http::response> replay_deliveries(const http::request& received, const caller& who,
                                            webhook_client& webhooks)
{
    const auto wanted = read_replay(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    const auto begun = co_await webhooks.replay(*wanted);
    if (!begun)
        co_return http::error_response(begun.error());

    co_return http::ok_json(replayed_json(wanted->webhook_id(), begun->replayed()));
}

awaitable<http::response> check_replay(const http::request& received, const caller& who,
                                       webhook_client&)
{
    const auto wanted = read_replay(received, who);
    if (!wanted)
        co_return http::error_response(wanted.error());

    co_return http::response(204, "", "");
}

} // namespace tempinbox::gateway
