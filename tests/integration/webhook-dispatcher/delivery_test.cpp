#include "integration/webhook-dispatcher/dispatcher.hpp"
#include "integration/webhook-dispatcher/receiver.hpp"

#include "webhook-dispatcher/delivery/signature.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::eventually;

namespace {

struct suite
{
    testing::scratch_database scratch{{"webhooks"}};
    testing::dispatcher process{scratch.dsn()};
    testing::receiver hook;
    account_id account = account_id::make();

    webhooks::v1::CreateWebhookResponse create_webhook(const std::string& url)
    {
        return await(process.webhook_calls.create(testing::webhook_request(account, url))).value();
    }
    void deliver(const std::vector<kafka::record>& records) { await(process.intake.handle(records)); }
    int count(const std::string& query) { return scratch.execute("SELECT count(*) FROM " + query)[0][0].as<int>(); }
    bool becomes(const std::string& query, int expected)
    {
        return eventually([&] { return count(query) == expected; });
    }
};

std::string header(const http::request& request, std::string_view name)
{
    return std::string(request.header(name).value_or(""));
}

} // namespace

TEST_CASE("an event becomes a signed request to the subscribed webhook", "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    const auto created = s.create_webhook(s.hook.url());
    const auto mail = testing::email(s.account, "Hello");

    s.deliver({testing::email_record(mail)});

    REQUIRE(s.hook.got(1));
    const auto& request = s.hook.requests().front();
    CHECK(request.method == "POST");
    CHECK(header(request, "content-type") == "application/json");
    CHECK(header(request, "webhook-id") == mail.email_id());
    CHECK(header(request, "webhook-attempt") == "1");
    CHECK(request.body.starts_with(R"({"event":"email.received","timestamp":")"));
    CHECK(request.body.find(R"("data":{"emailId":")" + mail.email_id()) != std::string::npos);
    const auto key = webhooks::read_signing_secret(secret{created.secret()}).value();
    const auto timestamp = from_unix_micros(std::stoll(header(request, "webhook-timestamp")) * 1'000'000);
    CHECK(header(request, "webhook-signature") == webhooks::sign({key}, mail.email_id(), timestamp, request.body));

    CHECK(s.becomes("webhooks.delivery WHERE state = 'succeeded' AND attempts = 1 AND last_status = 200", 1));
    CHECK(s.count("webhooks.due") == 0);
    CHECK(s.count("webhooks.attempt WHERE number = 1 AND status = 200") == 1);
}
