#include "gateway/resources/webhooks.hpp"

#include "common/json/value.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace webhooks::v1;

namespace {

// POST /v1/webhooks against a dispatcher on loopback that records its requests.
class arranged_webhooks
{
public:
    arranged_webhooks()
    {
        service_.response<CreateWebhookRequest, CreateWebhookResponse>(
            "tempinbox.webhooks.v1.WebhookService/CreateWebhook",
            [this](const CreateWebhookRequest& request) {
                created = request;
                CreateWebhookResponse response;
                response.mutable_webhook()->set_webhook_id(request.webhook_id());
                response.set_secret("whsec_x");
                return result<CreateWebhookResponse>(response);
            });
        client = std::make_unique<webhook_client>(testing::test_host(), service_.start(),
                                                  service_.tokens());
    }

    http::response post(const std::string& body)
    {
        http::request received;
        received.method = "POST";
        received.body = body;
        return testing::await(create_webhook(received, testing::premium_caller(), *client));
    }

    std::optional<CreateWebhookRequest> created;

private:
    testing::fake_service service_;

public:
    std::unique_ptr<webhook_client> client;
};

} // namespace

TEST_CASE("a webhook without events gets all three", "[gateway][webhooks]")
{
    arranged_webhooks arranged;

    const auto response = arranged.post(R"({"url":"https://z.test/hook"})");

    REQUIRE(arranged.created);
    CHECK(response.status == 201);
    CHECK(http::find_header(response.headers, "Location") ==
          "/v1/webhooks/" + arranged.created->webhook_id());
    CHECK(json::value::parse(response.body).value()["secret"].text() == "whsec_x");
    CHECK(arranged.created->events_size() == 3);
    CHECK(arranged.created->url() == "https://z.test/hook");
    CHECK(arranged.created->description().empty());
}

TEST_CASE("an event named twice is one event", "[gateway][webhooks]")
{
    arranged_webhooks arranged;

    arranged.post(
        R"({"url":"https://z.test/","events":["inbox.created","inbox.created"],"description":"d"})");

    REQUIRE(arranged.created);
    CHECK(arranged.created->events_size() == 1);
    CHECK(arranged.created->description() == "d");
}

TEST_CASE("a bad webhook is 400, names the field, and goes no further", "[gateway][webhooks]")
{
    struct row
    {
        const char* body;
        const char* named;
    };
    const row rows[] = {
        {"", "url is required"},
        {R"({"url":7})", "url"},
        {R"({"url":""})", "url"},
        {R"({"url":"https://z.test/","events":[]})", "events must name at least one"},
        {R"({"url":"https://z.test/","events":["email.deleted"]})", "email.deleted"},
        {R"({"url":"https://z.test/","events":"email.received"})", "events"},
        {R"({"url":"https://z.test/","isEnabled":true})", "isEnabled"},
        {R"({"url":"https://z.test/","description":7})", "description"},
    };

    for (const auto& row : rows) {
        arranged_webhooks arranged;
        const auto response = arranged.post(row.body);
        INFO(row.body << " gave " << response.body);
        CHECK(response.status == 400);
        CHECK(json::value::parse(response.body).value()["message"].text().find(row.named) !=
              std::string::npos);
        CHECK_FALSE(arranged.created);
    }
}
