#pragma once

#include "integration/webhook-dispatcher/suite.hpp"

#include "webhook-dispatcher/storage/delivery_id.hpp"

namespace tempinbox::testing {

// The RPCs about deliveries of the suite's one account.
struct deliveries_suite : suite
{
    using suite::suite;

    result<webhooks::v1::ListDeliveriesResponse> list(const std::string& webhook,
                                                      const std::string& status = "", int limit = 0,
                                                      const std::string& cursor = "",
                                                      bool is_oldest_first = false)
    {
        webhooks::v1::ListDeliveriesRequest request;
        request.set_account_id(account.text());
        request.set_webhook_id(webhook);
        request.set_status(status);
        request.set_limit(limit);
        request.set_cursor(cursor);
        request.set_oldest_first(is_oldest_first);
        return await(process.delivery_rpc.list(request));
    }
    result<webhooks::v1::GetDeliveryResponse> get(const std::string& webhook,
                                                  const std::string& delivery)
    {
        webhooks::v1::GetDeliveryRequest request;
        request.set_account_id(account.text());
        request.set_webhook_id(webhook);
        request.set_delivery_id(delivery);
        return await(process.delivery_rpc.get(request));
    }
    webhooks::v1::TestWebhookRequest test_request(const std::string& webhook)
    {
        webhooks::v1::TestWebhookRequest request;
        request.set_account_id(account.text());
        request.set_webhook_id(webhook);
        request.set_event_id(event_id::make().text());
        return request;
    }
    webhooks::v1::RetryDeliveryRequest retry_request(const std::string& webhook,
                                                     const std::string& event)
    {
        const auto delivery = webhooks::make_delivery_id(event_id::parse(event).value(),
                                                         webhook_id::parse(webhook).value());
        webhooks::v1::RetryDeliveryRequest request;
        request.set_account_id(account.text());
        request.set_webhook_id(webhook);
        request.set_delivery_id(delivery.text());
        request.set_attempt_id(uuid::make_v7().text());
        return request;
    }
    webhooks::v1::ReplayDeliveriesRequest replay_request(const std::string& webhook,
                                                         const std::string& status = "")
    {
        webhooks::v1::ReplayDeliveriesRequest request;
        request.set_account_id(account.text());
        request.set_webhook_id(webhook);
        request.set_replay_id(uuid::make_v7().text());
        request.mutable_since()->set_seconds(to_unix_micros(test_host().clock().now()) / 1'000'000 -
                                             3'600);
        request.set_status(status);
        return request;
    }
    // That many events whose deliveries to each of the account's webhooks failed, made without
    // sending.
    std::vector<std::string> fail(int number)
    {
        std::vector<std::string> events;
        std::string ids;
        for (int i = 0; i < number; ++i) {
            events.push_back(event_id::make().text());
            ids += (i == 0 ? "" : ",") + events.back();
        }
        // One commit: on a disk that is slow to flush, one for each row could take until the test's
        // end.
        scratch.execute("WITH failed AS (SELECT unnest('{" + ids + "}'::uuid[]) AS event_id, '" +
                        account.text() +
                        "'::uuid AS account_id), event AS (INSERT INTO webhooks.events (event_id, "
                        "account_id, type, occurred_at, body) "
                        "SELECT event_id, account_id, 'email.received', now(), '{}' FROM failed) "
                        "INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, "
                        "attempts, last_status, rule_ids, "
                        "created_at) SELECT event_id, webhook_id, account_id, 'exhausted', 10, "
                        "500, '{}', now() "
                        "FROM failed JOIN webhooks.endpoints USING (account_id)");
        return events;
    }
};

inline std::string sent_id(const http::request& request)
{
    return std::string(request.header("webhook-id").value_or(""));
}

} // namespace tempinbox::testing
