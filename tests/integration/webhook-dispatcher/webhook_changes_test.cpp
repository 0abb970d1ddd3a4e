#include "integration/webhook-dispatcher/requests.hpp"

#include "common/core/text.hpp"
#include "webhook-dispatcher/endpoints/signature.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;
using testing::change_of;
using testing::error_of;
using testing::rotation_of;
using testing::suite;
using testing::switch_of;

namespace {

namespace v1 = webhooks::v1;

v1::Webhook change(suite& s, const v1::UpdateWebhookRequest& request)
{
    return await(s.process.webhook_rpc.update(request)).value().webhook();
}

// Which of the secrets signed the request: each signature must be one of them.
std::vector<std::string> signers(const http::request& request,
                                 const std::vector<std::string>& secrets)
{
    const auto id = request.header("webhook-id").value();
    const time_point at{
        std::chrono::seconds{std::stoll(std::string(request.header("webhook-timestamp").value()))}};
    std::vector<std::string> found;
    for (const auto& signature : split_list(request.header("webhook-signature").value(), ' '))
        for (const auto& text : secrets)
            if (webhooks::sign({webhooks::read_signing_secret(secret{text}).value()}, id, at,
                               request.body) == signature)
                found.push_back(text);
    return found;
}

} // namespace

TEST_CASE("a change sets what it names and leaves the rest", "[webhooks][rpc][postgres]")
{
    suite s;
    auto made = testing::webhook_request(s.account, "https://1.1.1.1/first");
    made.set_description("orders");
    const auto before = await(s.process.webhook_rpc.create(made)).value().webhook();

    auto request = change_of(s.account, before.webhook_id());
    request.set_url("https://1.1.1.1/second");
    const auto moved = change(s, request);
    CHECK(moved.url() == "https://1.1.1.1/second");
    CHECK(moved.description() == "orders");
    CHECK(moved.events_size() == 3);
    CHECK(moved.created_at().seconds() == before.created_at().seconds());

    request = change_of(s.account, before.webhook_id());
    request.mutable_events()->add_events("inbox.expired");
    request.set_description("");
    const auto narrowed = change(s, request);
    CHECK(narrowed.url() == "https://1.1.1.1/second");
    REQUIRE(narrowed.events_size() == 1);
    CHECK(narrowed.events(0) == "inbox.expired");
    CHECK(narrowed.description().empty());

    request = change_of(s.account, before.webhook_id());
    request.mutable_events();
    CHECK(change(s, request).events_size() == 3);
    CHECK_FALSE(change(s, switch_of(s.account, before.webhook_id(), false)).is_enabled());
}

TEST_CASE("a new URL is checked like a first one, and a refused change changes nothing",
          "[webhooks][rpc][postgres][ssrf]")
{
    testing::scratch_database scratch({"webhooks"});
    testing::dispatcher process(scratch.dsn(), webhooks::url_policy{});
    const auto account = account_id::make();
    const auto webhook =
        await(process.webhook_rpc.create(testing::webhook_request(account, "https://1.1.1.1/")))
            .value()
            .webhook();

    for (const auto* url : {"https://10.0.0.1/", "http://1.1.1.1/", "https://localhost/",
                            "https://0x7f.1/", "ftp://1.1.1.1/"}) {
        auto request = change_of(account, webhook.webhook_id());
        request.set_url(url);
        request.set_description("changed");
        const auto refused = error_of(await(process.webhook_rpc.update(request)));
        CHECK(refused.code == errc::invalid_argument);
        CHECK(refused.message.starts_with("url "));
    }
    CHECK(scratch.execute("SELECT url || description FROM webhooks.endpoints")[0][0]
              .as<std::string>() == "https://1.1.1.1/");
}

TEST_CASE("switching on clears why a webhook was switched off; other changes do not",
          "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    await(s.process.endpoints.disable(s.account, webhook_id::parse(webhook).value(),
                                      "it answered 410 Gone"));

    auto renamed = change_of(s.account, webhook);
    renamed.set_description("still off");
    CHECK(change(s, renamed).disabled_reason() == "it answered 410 Gone");
    CHECK(change(s, switch_of(s.account, webhook, false)).disabled_reason() ==
          "it answered 410 Gone");

    const auto on = change(s, switch_of(s.account, webhook, true));
    CHECK(on.is_enabled());
    CHECK_FALSE(on.has_disabled_reason());
}

TEST_CASE("what waits for a webhook that is switched on again is sent",
          "[webhooks][delivery][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.deliver({testing::email_record(testing::email(s.account)),
               testing::email_record(testing::email(s.account))});
    // One waits behind a breaker, one for its next attempt.
    s.scratch.execute(
        "UPDATE webhooks.due_deliveries SET lease_id = NULL, lease_until = NULL, run_at = now() "
        "+ interval '10 minutes'");
    s.scratch.execute(
        "UPDATE webhooks.due_deliveries SET attempts = 3, is_retry = true WHERE event_id = "
        "(SELECT min(event_id::text)::uuid FROM webhooks.due_deliveries)");
    await(
        s.process.endpoints.disable(s.account, webhook_id::parse(webhook).value(), "only failed"));

    change(s, switch_of(s.account, webhook, true));

    testing::dispatcher another(s.scratch.dsn());
    another.start();
    CHECK(s.hook.got(1));
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    CHECK(s.count("webhooks.due_deliveries WHERE attempts = 3 AND run_at > now() + interval '9 "
                  "minutes'") == 1);
}

TEST_CASE("a webhook that is switched on again is probed at once, though its breaker is open and "
          "no mail comes",
          "[webhooks][delivery][postgres]")
{
    suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(500));
    std::vector<kafka::record> mails;
    for (int i = 0; i < 6; ++i)
        mails.push_back(testing::email_record(testing::email(s.account)));
    s.deliver(mails);
    REQUIRE(s.becomes("webhooks.attempts", 6));
    s.deliver({testing::email_record(testing::email(s.account))});
    REQUIRE(
        s.count(
            "webhooks.due_deliveries WHERE attempts = 0 AND run_at > now() + interval '15 s'") ==
        1);

    s.hook.respond_always(testing::receiver::scripted_response(200));
    change(s, switch_of(s.account, webhook, false));
    change(s, switch_of(s.account, webhook, true));

    // Without the renewal, the breaker would stay open for 30 s.
    CHECK(s.hook.got(7, std::chrono::seconds(15)));
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 7));
}

TEST_CASE("a failure from before a webhook was switched on does not switch it off",
          "[webhooks][delivery][postgres]")
{
    suite s;
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    const auto before = await(s.process.endpoints.find(s.account, webhook)).value().renewed_at;
    auto moved = change_of(s.account, webhook.text());
    moved.set_url(s.hook.url("/new"));
    change(s, moved);

    await(s.process.endpoints.disable(s.account, webhook, "it answered 410 Gone", before));
    CHECK(await(s.process.endpoints.find(s.account, webhook)).value().is_enabled);

    const auto now = await(s.process.endpoints.find(s.account, webhook)).value().renewed_at;
    await(s.process.endpoints.disable(s.account, webhook, "it answered 410 Gone", now));
    CHECK_FALSE(await(s.process.endpoints.find(s.account, webhook)).value().is_enabled);
}

TEST_CASE("another account's webhook is changed and rotated by nobody", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto other = account_id::make();
    await(s.process.webhook_rpc.create(testing::webhook_request(other, "https://1.1.1.1/")))
        .value();

    CHECK(error_of(await(s.process.webhook_rpc.update(switch_of(other, webhook, false)))).message ==
          "Webhook " + webhook + " does not exist");
    CHECK(error_of(await(s.process.webhook_rpc.rotate(rotation_of(other, webhook)))).code ==
          errc::not_found);
    CHECK(
        error_of(await(s.process.webhook_rpc.update(switch_of(account_id::make(), webhook, false))))
            .code == errc::not_found);
    CHECK(s.count("webhooks.endpoints WHERE is_enabled AND rotation_id IS NULL") == 2);
    CHECK(s.count("webhooks.previous_secrets") == 0);
}

TEST_CASE("after a rotation both secrets sign, until the earlier one's time is over",
          "[webhooks][delivery][postgres]")
{
    suite s;
    s.process.start();
    const auto created = s.create_webhook(s.hook.url());
    const auto webhook = created.webhook().webhook_id();

    const auto rotated =
        await(s.process.webhook_rpc.rotate(rotation_of(s.account, webhook))).value();

    CHECK(rotated.secret() != created.secret());
    const auto left = rotated.previous_valid_until().seconds() -
                      to_unix_micros(system_clock_source{}.now()) / 1'000'000;
    CHECK(left > 86'340);
    CHECK(left <= 86'400);
    const std::vector<std::string> both{rotated.secret(), created.secret()};
    s.deliver({testing::email_record(testing::email(s.account))});
    REQUIRE(s.hook.got(1));
    CHECK(signers(s.hook.requests()[0], both) == both);

    // A day later.
    s.scratch.execute("UPDATE webhooks.previous_secrets SET valid_until = now() - interval '1 s'");
    s.scratch.execute("UPDATE webhooks.config_versions SET version = version + 1");
    s.deliver({testing::email_record(testing::email(s.account))});
    REQUIRE(s.hook.got(2));
    CHECK(signers(s.hook.requests()[1], both) == std::vector{rotated.secret()});
}

TEST_CASE("a repeated rotation is the same rotation", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto request = rotation_of(s.account, webhook);

    const auto first = await(s.process.webhook_rpc.rotate(request)).value();
    const auto again = await(s.process.webhook_rpc.rotate(request)).value();

    CHECK(first.SerializeAsString() == again.SerializeAsString());
    CHECK(s.count("webhooks.previous_secrets") == 1);
}

TEST_CASE("each rotation keeps the earlier secrets signing; a fifth secret has to wait",
          "[webhooks][delivery][postgres]")
{
    suite s;
    s.process.start();
    const auto created = s.create_webhook(s.hook.url());
    const auto webhook = created.webhook().webhook_id();
    std::vector<std::string> secrets{created.secret()};
    for (int i = 0; i < 3; ++i)
        secrets.insert(
            secrets.begin(),
            await(s.process.webhook_rpc.rotate(rotation_of(s.account, webhook))).value().secret());

    s.deliver({testing::email_record(testing::email(s.account))});
    REQUIRE(s.hook.got(1));
    CHECK(signers(s.hook.requests()[0], secrets) == secrets);
    const auto refused =
        error_of(await(s.process.webhook_rpc.rotate(rotation_of(s.account, webhook))));
    CHECK(refused.code == errc::conflict);
    CHECK(refused.message.find("signs with 4 secrets already") != std::string::npos);

    s.scratch.execute(
        "UPDATE webhooks.previous_secrets SET valid_until = now() WHERE valid_until = "
        "(SELECT min(valid_until) FROM webhooks.previous_secrets)");
    CHECK(await(s.process.webhook_rpc.rotate(rotation_of(s.account, webhook))).has_value());
    CHECK(s.count("webhooks.previous_secrets") == 3);
}

TEST_CASE("replaced secrets are purged when they sign no more, and with their webhook",
          "[webhooks][postgres]")
{
    suite s;
    const auto kept = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto deleted = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    for (const auto& webhook : {kept, deleted})
        await(s.process.webhook_rpc.rotate(rotation_of(s.account, webhook))).value();
    v1::DeleteWebhookRequest request;
    request.set_account_id(s.account.text());
    request.set_webhook_id(deleted);
    await(s.process.webhook_rpc.remove(request)).value();
    CHECK(s.count("webhooks.previous_secrets") == 1);

    webhooks::retention_repository retention(s.process.db);
    await(retention.purge_ended_secrets());
    CHECK(s.count("webhooks.previous_secrets") == 1);
    s.scratch.execute("UPDATE webhooks.previous_secrets SET valid_until = now() - interval '1 s'");
    await(retention.purge_ended_secrets());
    CHECK(s.count("webhooks.previous_secrets") == 0);
}
