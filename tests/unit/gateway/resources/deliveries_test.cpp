#include "gateway/resources/deliveries.hpp"

#include "common/json/value.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace webhooks::v1;

namespace {

// The operations on deliveries against a dispatcher on loopback that records its requests.
class arranged_deliveries
{
public:
    arranged_deliveries()
    {
        service_.response<ListDeliveriesRequest, ListDeliveriesResponse>(
            "tempinbox.webhooks.v1.DeliveryService/ListDeliveries",
            [this](const ListDeliveriesRequest& request) {
                listed = request;
                return result<ListDeliveriesResponse>(page);
            });
        service_.response<GetDeliveryRequest, GetDeliveryResponse>(
            "tempinbox.webhooks.v1.DeliveryService/GetDelivery",
            [this](const GetDeliveryRequest& request) {
                read = request;
                GetDeliveryResponse response;
                response.mutable_delivery()->set_delivery_id(request.delivery_id());
                return result<GetDeliveryResponse>(response);
            });
        service_.response<TestWebhookRequest, TestWebhookResponse>(
            "tempinbox.webhooks.v1.DeliveryService/TestWebhook",
            [this](const TestWebhookRequest& request) {
                tested = request;
                return result<TestWebhookResponse>(refusal);
            });
        service_.response<ReplayDeliveriesRequest, ReplayDeliveriesResponse>(
            "tempinbox.webhooks.v1.DeliveryService/ReplayDeliveries",
            [this](const ReplayDeliveriesRequest& request) {
                replayed = request;
                ReplayDeliveriesResponse response;
                response.set_replayed(3);
                return result<ReplayDeliveriesResponse>(response);
            });
        client = std::make_unique<webhook_client>(testing::test_host(), service_.start(),
                                                  service_.tokens());
    }

    http::request request(const std::string& body = "") const
    {
        http::request received;
        received.body = body;
        received.path_params = {{"webhookId", webhook.text()}, {"deliveryId", delivery.text()}};
        return received;
    }
    http::response test(const std::string& body)
    {
        const auto received = request(body);
        return testing::await(test_webhook(received, testing::premium_caller(), *client));
    }
    http::response replay(const std::string& body)
    {
        const auto received = request(body);
        return testing::await(replay_deliveries(received, testing::premium_caller(), *client));
    }

    const webhook_id webhook = webhook_id::make();
    const uuid delivery = uuid::make_v7();
    ListDeliveriesResponse page;
    failure refusal{errc::rate_limited, "slow down"};
    std::optional<ListDeliveriesRequest> listed;
    std::optional<GetDeliveryRequest> read;
    std::optional<TestWebhookRequest> tested;
    std::optional<ReplayDeliveriesRequest> replayed;

private:
    testing::fake_service service_;

public:
    std::unique_ptr<webhook_client> client;
};

} // namespace

TEST_CASE("a delivery is shown with every field, absent ones as null", "[gateway][deliveries]")
{
    arranged_deliveries arranged;
    auto& shown = *arranged.page.add_deliveries();
    shown.set_delivery_id(arranged.delivery.text());
    shown.set_webhook_id(arranged.webhook.text());
    shown.set_event("inbox.created");
    shown.set_status("failed");
    shown.mutable_created_at()->set_seconds(1'700'000'000);
    auto& attempt = *shown.add_attempts();
    attempt.mutable_at()->set_seconds(1'700'000'001);
    attempt.set_duration_ms(12);
    attempt.set_error("connection refused");

    const auto received = arranged.request();
    const auto response =
        testing::await(list_deliveries(received, testing::premium_caller(), *arranged.client));

    const auto body = json::value::parse(response.body).value();
    const auto delivery = body["deliveries"][0];
    CHECK(response.status == 200);
    CHECK(delivery["deliveryId"].text() == arranged.delivery.text());
    CHECK(delivery["webhookId"].text() == arranged.webhook.text());
    CHECK(delivery["nextAttemptAt"].is_null());
    CHECK(delivery["createdAt"].text() == "2023-11-14T22:13:20.000Z");
    CHECK(delivery["attempts"][0]["statusCode"].is_null());
    CHECK(delivery["attempts"][0]["responseBody"].is_null());
    CHECK(delivery["attempts"][0]["error"].text() == "connection refused");
    CHECK(body["nextCursor"].is_null());
    CHECK(arranged.listed->webhook_id() == arranged.webhook.text());
    CHECK(arranged.listed->status().empty());
    CHECK(arranged.listed->limit() == 25);
    CHECK_FALSE(arranged.listed->oldest_first());
}

TEST_CASE("a delivery is read by its id and its webhook's", "[gateway][deliveries]")
{
    arranged_deliveries arranged;
    const auto who = testing::premium_caller();
    const auto received = arranged.request();
    auto wrong = arranged.request();
    wrong.path_params[1].second = "x";

    const auto response = testing::await(get_delivery(received, who, *arranged.client));
    const auto refused = testing::await(get_delivery(wrong, who, *arranged.client));

    CHECK(response.status == 200);
    CHECK(json::value::parse(response.body).value()["deliveryId"].text() ==
          arranged.delivery.text());
    CHECK(arranged.read->webhook_id() == arranged.webhook.text());
    CHECK(arranged.read->account_id() == who.account().text());
    CHECK(refused.status == 400);
    CHECK(refused.body.find("deliveryId must be a UUID") != std::string::npos);
}

TEST_CASE("a test too many is 429 and says when there is room again", "[gateway][deliveries]")
{
    arranged_deliveries arranged;

    const auto response = arranged.test("");

    CHECK(response.status == 429);
    CHECK(http::find_header(response.headers, "Retry-After") == "6");
}

TEST_CASE("a test is of the event that is named, or of the webhook's first",
          "[gateway][deliveries]")
{
    arranged_deliveries arranged;

    arranged.test(R"({"event":"inbox.expired"})");
    CHECK(arranged.tested->event() == "inbox.expired");
    arranged.test("{}");
    CHECK(arranged.tested->event().empty());
    arranged.tested.reset();
    const auto refused = arranged.test(R"({"event":"inbox.ended"})");

    CHECK(refused.status == 400);
    CHECK(refused.body.find("event must be one of email.received") != std::string::npos);
    CHECK_FALSE(arranged.tested);
}

TEST_CASE("a test that is repeated with its Idempotency-Key makes the same event",
          "[gateway][deliveries]")
{
    arranged_deliveries arranged;
    auto who = testing::premium_caller();
    who.chosen_id = uuid::make_v7();

    http::request received = arranged.request(R"({"since":"2026-11-20T12:00:00Z"})");
    testing::await(replay_deliveries(received, who, *arranged.client));

    CHECK(arranged.replayed->replay_id() == who.chosen_id->text());
}

TEST_CASE("a replay is of failed deliveries since a moment", "[gateway][deliveries]")
{
    arranged_deliveries arranged;

    const auto response = arranged.replay(R"({"since":"2026-11-20T13:00:00+01:00"})");

    REQUIRE(arranged.replayed);
    CHECK(response.status == 200);
    CHECK(json::value::parse(response.body).value()["replayedCount"].integer() == 3);
    CHECK(arranged.replayed->status() == "failed");
    CHECK(arranged.replayed->since().seconds() ==
          to_unix_micros(*parse_iso8601("2026-11-20T12:00:00Z")) / 1'000'000);
}

TEST_CASE("a bad replay is 400, names the field, and goes no further", "[gateway][deliveries]")
{
    struct row
    {
        const char* body;
        const char* named;
    };
    const row rows[] = {
        {"", "since is required"},
        {R"({"since":7})", "since"},
        {R"({"since":"yesterday"})", "since must be a time in the past"},
        {R"({"since":"2026-11-20"})", "since must be a time in the past"},
        {R"({"since":"2026-11-21T12:00:01Z"})", "since must be a time in the past"},
        {R"({"since":"1969-12-31T23:59:59Z"})", "since must be a time in the past"},
        {R"({"since":"2026-11-20T12:00:00Z","status":"pending"})", "status"},
        {R"({"since":"2026-11-20T12:00:00Z","until":"2026-11-20T12:00:00Z"})", "until"},
    };
    for (const auto& row : rows) {
        arranged_deliveries arranged;
        const auto response = arranged.replay(row.body);
        INFO(row.body << " gave " << response.body);
        CHECK(response.status == 400);
        CHECK(json::value::parse(response.body).value()["message"].text().find(row.named) !=
              std::string::npos);
        CHECK_FALSE(arranged.replayed);
    }
}
