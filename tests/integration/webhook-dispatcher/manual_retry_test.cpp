#include "integration/webhook-dispatcher/deliveries_suite.hpp"

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::deliveries_suite;
using testing::email;
using testing::email_record;
using testing::sent_id;

TEST_CASE("a test sends a signed sample and returns what the receiver answered",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_with({testing::receiver::scripted_response(202, "thanks")});
    const auto request = s.test_request(webhook);

    const auto sent = await(s.process.delivery_rpc.test(request)).value().delivery();

    CHECK(sent.status() == "succeeded");
    CHECK(sent.event_id() == request.event_id());
    REQUIRE(sent.attempts_size() == 1);
    CHECK(sent.attempts(0).status_code() == 202);
    CHECK(sent.attempts(0).response_body() == "thanks");
    REQUIRE(s.hook.requests().size() == 1);
    CHECK(sent_id(s.hook.requests()[0]) == request.event_id());
    CHECK(s.hook.requests()[0].header("webhook-signature").value_or("").starts_with("v1,"));
    CHECK(s.list(webhook, "succeeded").value().deliveries(0).delivery_id() == sent.delivery_id());

    // The response was lost and the request is repeated.
    CHECK(await(s.process.delivery_rpc.test(request)).value().delivery().delivery_id() ==
          sent.delivery_id());
    CHECK(s.hook.requests().size() == 1);
}

TEST_CASE("a test sends the event that is named, whatever the webhook subscribes to",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    auto request = s.test_request(webhook);
    request.set_event("inbox.expired");
    auto wrong = s.test_request(webhook);
    wrong.set_event("inbox.ended");

    const auto sent = await(s.process.delivery_rpc.test(request)).value().delivery();

    CHECK(sent.event() == "inbox.expired");
    REQUIRE(s.hook.requests().size() == 1);
    CHECK(s.hook.requests()[0].body.find(R"("event":"inbox.expired")") != std::string::npos);
    CHECK(await(s.process.delivery_rpc.test(wrong)).error().code == errc::invalid_argument);
}

TEST_CASE("a test that fails is not tried again and changes nothing about the webhook",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(410));

    const auto sent =
        await(s.process.delivery_rpc.test(s.test_request(webhook))).value().delivery();

    CHECK(sent.status() == "failed");
    CHECK(sent.attempts(0).status_code() == 410);
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.count("webhooks.endpoints WHERE is_enabled") == 1);
}

TEST_CASE("a test goes to a webhook that is switched off, and says why a host is not reached",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook("http://127.0.0.1:2000/").webhook().webhook_id();
    await(s.process.endpoints.disable(s.account, webhook_id::parse(webhook).value(), "test"));

    const auto sent =
        await(s.process.delivery_rpc.test(s.test_request(webhook))).value().delivery();

    CHECK(sent.status() == "failed");
    REQUIRE(sent.attempts_size() == 1);
    CHECK_FALSE(sent.attempts(0).has_status_code());
    CHECK_FALSE(sent.attempts(0).error().empty());
}

TEST_CASE("a webhook is tested ten times a minute at most", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    for (int i = 0; i < 10; ++i)
        CHECK(await(s.process.delivery_rpc.test(s.test_request(webhook))).has_value());

    const auto refused = await(s.process.delivery_rpc.test(s.test_request(webhook)));

    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::rate_limited);
    CHECK(s.hook.requests().size() == 10);
    CHECK(s.count("webhooks.deliveries") == 10);
    s.scratch.execute("UPDATE webhooks.manual_limits SET busy_until = busy_until - interval '7 s'");
    CHECK(await(s.process.delivery_rpc.test(s.test_request(webhook))).has_value());
}

TEST_CASE("an account that holds its ten manual requests gets no more, and another one does",
          "[webhooks][postgres]")
{
    constexpr int allowed = 10;
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto second = s.create_webhook(s.hook.url("/second")).webhook().webhook_id();
    const auto failed = s.fail(1);
    const auto other_account = account_id::make();
    auto others_test = s.test_request(
        await(s.process.webhook_rpc.create(testing::webhook_request(other_account, s.hook.url())))
            .value()
            .webhook()
            .webhook_id());
    others_test.set_account_id(other_account.text());
    testing::receiver::scripted_response silent;
    silent.delay = 1h; // the sender gives up
    s.hook.respond_with(std::vector(allowed, silent));
    int answered = 0;
    const auto test = [&] {
        boost::asio::co_spawn(testing::test_host().loop(),
                              s.process.delivery_rpc.test(s.test_request(webhook)),
                              [&](const std::exception_ptr&, const auto&) { ++answered; });
    };
    for (int i = 0; i < allowed; ++i)
        test();
    REQUIRE(s.hook.got(allowed));

    // Of any webhook, test or retry.
    const auto refused = await(s.process.delivery_rpc.test(s.test_request(second)));
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::rate_limited);
    CHECK(refused.error().message.find("at most 10") != std::string::npos);
    const auto no_retry = await(s.process.delivery_rpc.retry(s.retry_request(second, failed[0])));
    REQUIRE(no_retry.has_error());
    CHECK(no_retry.error().code == errc::rate_limited);
    const auto sent = await(s.process.delivery_rpc.test(others_test));
    REQUIRE(sent.has_value());
    CHECK(sent->delivery().status() == "succeeded");
    CHECK(answered == 0);

    // Places come back with the answers.
    REQUIRE(testing::eventually([&] { return answered == allowed; }, 30s));
    CHECK(await(s.process.delivery_rpc.test(s.test_request(second))).has_value());
}

TEST_CASE("a failed delivery is sent again with its own id and body, and ends as the receiver says",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(1);
    const auto request = s.retry_request(webhook, events[0]);

    const auto sent = await(s.process.delivery_rpc.retry(request)).value().delivery();

    CHECK(sent.status() == "succeeded");
    CHECK(sent.delivery_id() == request.delivery_id());
    CHECK(sent_id(s.hook.requests().at(0)) == events[0]);
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.count("webhooks.deliveries WHERE state = 'succeeded' AND attempts = 11") == 1);
    // Repeated after a lost response: the same attempt.
    CHECK(await(s.process.delivery_rpc.retry(request)).value().delivery().status() == "succeeded");
    CHECK(s.hook.requests().size() == 1);
    // Another request: sent even after a success.
    s.hook.respond_with({testing::receiver::scripted_response(500)});
    CHECK(await(s.process.delivery_rpc.retry(s.retry_request(webhook, events[0])))
              .value()
              .delivery()
              .status() == "failed");
    CHECK(s.hook.requests().size() == 2);
}

TEST_CASE("a waiting delivery that is sent manually and fails waits on as before",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto mail = email(s.account);
    s.deliver({email_record(mail)});
    s.scratch.execute(
        "UPDATE webhooks.due_deliveries SET lease_id = NULL, lease_until = NULL, attempts = 3, "
        "is_retry = true, "
        "run_at = '2100-01-01T00:00:00Z'");
    s.hook.respond_with({testing::receiver::scripted_response(500)});

    const auto failed =
        await(s.process.delivery_rpc.retry(s.retry_request(webhook, mail.email_id())))
            .value()
            .delivery();

    CHECK(failed.status() == "pending");
    CHECK(failed.attempts_size() == 1);
    CHECK(s.count("webhooks.due_deliveries WHERE attempts = 3 AND lease_id IS NULL AND run_at = "
                  "'2100-01-01T00:00:00Z' AND last_status = 500") == 1);
    const auto done = await(s.process.delivery_rpc.retry(s.retry_request(webhook, mail.email_id())))
                          .value()
                          .delivery();
    CHECK(done.status() == "succeeded");
    CHECK(done.attempts_size() == 2);
    CHECK(s.count("webhooks.due_deliveries") == 0);
}

TEST_CASE("a delivery in flight is not sent a second time", "[webhooks][postgres]")
{
    deliveries_suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    testing::receiver::scripted_response slow;
    slow.delay = 500ms;
    s.hook.respond_always(slow);
    const auto mail = email(s.account);
    s.deliver({email_record(mail)});
    REQUIRE(s.hook.got(1));

    const auto refused =
        await(s.process.delivery_rpc.retry(s.retry_request(webhook, mail.email_id())));

    REQUIRE(refused.has_error());
    CHECK(refused.error().reason == error_reason::delivery_in_progress);
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    CHECK(s.hook.requests().size() == 1);
}

TEST_CASE("of many simultaneous requests for one delivery one is sent", "[webhooks][postgres]")
{
    constexpr int request_count = 12;
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(1);
    testing::receiver::scripted_response slow;
    slow.delay = 1s;
    s.hook.respond_always(slow);
    int sent = 0, refused = 0;
    for (int i = 0; i < request_count; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              s.process.delivery_rpc.retry(s.retry_request(webhook, events[0])),
                              [&](const std::exception_ptr& error,
                                  const result<webhooks::v1::RetryDeliveryResponse>& outcome) {
                                  if (!error && outcome)
                                      ++sent;
                                  else
                                      ++refused;
                              });

    REQUIRE(testing::eventually([&] { return sent + refused == request_count; }));
    CHECK(sent == 1);
    CHECK(s.hook.requests().size() == 1);
}

TEST_CASE("a delivery that a dead process was sending manually is sent by another",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    const auto events = s.fail(1);
    // It takes the delivery and dies.
    REQUIRE(await(s.process.manual_deliveries.take(
                      s.account, webhook, event_id::parse(events[0]).value(), uuid::make_v7()))
                .has_value());
    CHECK(s.list(webhook.text(), "pending").value().deliveries_size() == 1);

    s.scratch.execute("UPDATE webhooks.due_deliveries SET lease_until = now() - interval '1 ms'");
    s.process.start();

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    CHECK(s.hook.requests().size() == 1);
}

TEST_CASE("an outcome that comes after its lease was lost leaves only its attempt",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    const auto event = event_id::parse(s.fail(1)[0]).value();
    webhooks::manual_attempt late;
    late.event = event;
    late.webhook = webhook;
    late.account = s.account;
    late.lease = uuid::make_v7();
    late.was_finished = true;
    late.has_succeeded = true;
    late.at = testing::test_host().clock().now();
    REQUIRE(
        await(s.process.manual_deliveries.take(s.account, webhook, event, late.lease)).has_value());
    s.scratch.execute("UPDATE webhooks.due_deliveries SET lease_id = '" + uuid::make_v7().text() +
                      "'");

    await(s.process.manual_deliveries.finish(late));

    CHECK(s.count("webhooks.due_deliveries") == 1);
    CHECK(s.count("webhooks.deliveries") == 0);
    CHECK(s.count("webhooks.attempts") == 1);
}

TEST_CASE("nothing is sent again to a webhook that is switched off", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(1);
    await(s.process.endpoints.disable(s.account, webhook_id::parse(webhook).value(), "test"));

    CHECK(await(s.process.delivery_rpc.retry(s.retry_request(webhook, events[0]))).error().code ==
          errc::conflict);
    CHECK(await(s.process.delivery_rpc.replay(s.replay_request(webhook))).error().code ==
          errc::conflict);
    CHECK(s.hook.requests().empty());
}

TEST_CASE("a delivery that never was cannot be sent", "[webhooks][postgres]")
{
    deliveries_suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();

    const auto refused =
        await(s.process.delivery_rpc.retry(s.retry_request(webhook, event_id::make().text())));

    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::not_found);
}
