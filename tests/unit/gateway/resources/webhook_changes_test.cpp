#include "common/json/value.hpp"
#include "gateway/resources/webhooks.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace webhooks::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

// PATCH and rotation against a dispatcher on loopback that records its requests.
class arranged_changes
{
public:
    arranged_changes()
    {
        service_.response<UpdateWebhookRequest, UpdateWebhookResponse>(
            "tempinbox.webhooks.v1.WebhookService/UpdateWebhook",
            [this](const UpdateWebhookRequest& request) {
                changed = request;
                UpdateWebhookResponse response;
                response.mutable_webhook()->set_webhook_id(request.webhook_id());
                return result<UpdateWebhookResponse>(response);
            });
        service_.response<RotateSecretRequest, RotateSecretResponse>(
            "tempinbox.webhooks.v1.WebhookService/RotateSecret",
            [this](const RotateSecretRequest& request) {
                rotated = request;
                RotateSecretResponse response;
                response.set_secret("whsec_new");
                response.mutable_previous_valid_until()->set_seconds(1'700'000'000);
                return result<RotateSecretResponse>(response);
            });
        client_ = std::make_unique<webhook_client>(testing::test_host(), service_.start(),
                                                   service_.tokens());
    }

    using operation = awaitable<http::response> (*)(const http::request&, const caller&,
                                                    webhook_client&);
    http::response call(operation handle, const std::string& body)
    {
        http::request received;
        received.body = body;
        received.path_params = {{"webhookId", some_id}};
        return testing::await(handle(received, who, *client_));
    }

    caller who = testing::premium_caller();
    std::optional<UpdateWebhookRequest> changed;
    std::optional<RotateSecretRequest> rotated;

private:
    testing::fake_service service_;
    std::unique_ptr<webhook_client> client_;
};

} // namespace

TEST_CASE("a change of a webhook sends on what is given, and nothing else", "[gateway][webhooks]")
{
    arranged_changes arranged;

    const auto response = arranged.call(update_webhook, R"({"isEnabled":true,"description":"d"})");

    CHECK(response.status == 200);
    REQUIRE(arranged.changed);
    CHECK(arranged.changed->account_id() == arranged.who.account().text());
    CHECK(arranged.changed->webhook_id() == some_id);
    CHECK(arranged.changed->is_enabled());
    CHECK(arranged.changed->description() == "d");
    CHECK_FALSE(arranged.changed->has_url());
    CHECK_FALSE(arranged.changed->has_events());
}

TEST_CASE("null gives a webhook all events and no description", "[gateway][webhooks]")
{
    arranged_changes arranged;

    arranged.call(update_webhook, R"({"events":null,"description":null})");

    REQUIRE(arranged.changed);
    CHECK(arranged.changed->has_events());
    CHECK(arranged.changed->events().events_size() == 0);
    CHECK(arranged.changed->has_description());
    CHECK(arranged.changed->description().empty());
}

TEST_CASE("a bad change of a webhook is 400, names the field, and goes no further",
          "[gateway][webhooks]")
{
    const std::pair<const char*, const char*> rows[] = {
        {"", "at least one of url, events, description, isEnabled"},
        {R"({"url":null})", "url must be a string"},
        {R"({"isEnabled":null})", "isEnabled must be true or false"},
        {R"({"isEnabled":"yes"})", "isEnabled must be true or false"},
        {R"({"events":[]})", "events must name at least one"},
        {R"({"secret":"whsec_x"})", "secret is unknown here"},
        {R"({"disabledReason":null})", "disabledReason is unknown here"},
    };

    for (const auto& [body, named] : rows) {
        arranged_changes arranged;
        const auto response = arranged.call(update_webhook, body);
        INFO(body << " gave " << response.body);
        CHECK(response.status == 400);
        CHECK(json::value::parse(response.body).value()["message"].text().find(named) !=
              std::string::npos);
        CHECK_FALSE(arranged.changed);
    }
}

TEST_CASE("a rotation answers the new secret and how long the earlier one signs",
          "[gateway][webhooks]")
{
    arranged_changes arranged;

    const auto response = arranged.call(rotate_webhook_secret, "");

    CHECK(response.status == 200);
    CHECK(response.body ==
          R"({"webhookId":")" + some_id +
              R"(","secret":"whsec_new","previousSecretExpiresAt":"2023-11-14T22:13:20.000Z"})");
    CHECK(arranged.call(rotate_webhook_secret, R"({"secret":"whsec_mine"})").status == 400);
}

TEST_CASE("an idempotent rotation is named by the id that was stored for it", "[gateway][webhooks]")
{
    arranged_changes arranged;
    arranged.who.chosen_id = uuid::make_v7();

    arranged.call(rotate_webhook_secret, "{}");

    REQUIRE(arranged.rotated);
    CHECK(arranged.rotated->rotation_id() == arranged.who.chosen_id->text());
}
