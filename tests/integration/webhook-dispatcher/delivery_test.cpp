#include "integration/webhook-dispatcher/suite.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::email;
using testing::email_record;
using testing::suite;

namespace {

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
    const auto mail = email(s.account, "Hello");

    s.deliver({email_record(mail)});

    REQUIRE(s.hook.got(1));
    const auto& request = s.hook.requests().front();
    CHECK(request.method == "POST");
    CHECK(header(request, "content-type") == "application/json");
    CHECK(header(request, "webhook-id") == mail.email_id());
    CHECK(header(request, "webhook-attempt") == "1");
    CHECK(request.body.starts_with(R"({"event":"email.received","timestamp":")"));
    CHECK(request.body.find(R"("data":{"emailId":")" + mail.email_id()) != std::string::npos);
    const auto key = webhooks::read_signing_secret(secret{created.secret()}).value();
    const auto timestamp =
        from_unix_micros(std::stoll(header(request, "webhook-timestamp")) * 1'000'000);
    CHECK(header(request, "webhook-signature") ==
          webhooks::sign({key}, mail.email_id(), timestamp, request.body));

    CHECK(s.becomes(
        "webhooks.deliveries WHERE state = 'succeeded' AND attempts = 1 AND last_status = 200", 1));
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.count("webhooks.attempts WHERE number = 1 AND status = 200") == 1);
}

TEST_CASE("a rule chooses the webhook and is stored with the delivery", "[webhooks][postgres]")
{
    suite s;
    testing::receiver other;
    s.process.start();
    s.create_webhook(other.url());
    const auto chosen = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto rule = s.create_rule(chosen, "invoice");

    s.deliver(
        {email_record(email(s.account, "Your INVOICE")), email_record(email(s.account, "Hello"))});

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    CHECK(s.hook.requests().size() == 1);
    CHECK(other.requests().empty());
    CHECK(s.count("webhooks.deliveries WHERE rule_ids = ARRAY['" + rule + "'::uuid]") == 1);
    CHECK(s.count("webhooks.events") == 1);
}

TEST_CASE("a rule change is in force for the next mail", "[webhooks][postgres]")
{
    suite s;
    testing::receiver other;
    s.process.start();
    const auto first = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto second = s.create_webhook(other.url()).webhook().webhook_id();
    auto rule = s.create_rule(first);
    s.deliver({email_record(email(s.account))});
    REQUIRE(s.hook.got(1));

    webhooks::v1::DeleteRuleRequest removal;
    removal.set_account_id(s.account.text());
    removal.set_rule_id(rule);
    REQUIRE(await(s.process.rule_rpc.remove(removal)).has_value());
    s.create_rule(second);
    s.deliver({email_record(email(s.account))});

    REQUIRE(other.got(1));
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 2));
    CHECK(s.hook.requests().size() == 1);
}

TEST_CASE("nothing is stored of a batch that an older configuration routed", "[webhooks][postgres]")
{
    suite s;
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    const auto event = event_id::make();
    const webhooks::new_event stored{event, s.account, webhooks::event_kind::email_received,
                                     {},    "{}",      ""};
    webhooks::new_delivery delivery;
    delivery.event = event;
    delivery.webhook = webhook;
    delivery.account = s.account;
    const webhooks::new_routing routing{event, s.account, {{rule_id::make(), true}}};
    const auto configs = await(s.process.configs.current({s.account}));
    const auto version = configs.at(s.account)->version();
    const auto insert = [&](std::int64_t given) {
        return await(s.process.queue.insert({stored}, {delivery}, uuid::make_v7(), {routing},
                                            {{s.account, given}}));
    };

    CHECK_FALSE(insert(version - 1));
    CHECK(s.count("webhooks.events") + s.count("webhooks.due_deliveries") +
              s.count("webhooks.routings") ==
          0);
    CHECK(insert(version));
    CHECK(s.count("webhooks.events") + s.count("webhooks.due_deliveries") +
              s.count("webhooks.routings") ==
          3);
}

TEST_CASE("a batch that Kafka delivers again is sent once", "[webhooks][postgres]")
{
    suite s;
    s.create_webhook(s.hook.url());
    const auto record = email_record(email(s.account));

    // Twice within one batch and once more while it is in flight: its outcome is not written yet.
    s.deliver({record, record});
    s.deliver({record});
    CHECK(s.count("webhooks.due_deliveries") == 1);

    s.process.start();
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    // Finished.
    s.deliver({record});
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.hook.requests().size() == 1);
    CHECK(s.process.engine.held() == 0);
}

TEST_CASE("a failed delivery is retried on schedule with the same id and body",
          "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    s.create_webhook(s.hook.url());
    s.hook.respond_with({testing::receiver::scripted_response(500, "out of order")});

    s.deliver({email_record(email(s.account))});

    REQUIRE(s.becomes(
        "webhooks.due_deliveries WHERE attempts = 1 AND lease_id IS NULL AND last_status = 500",
        1));
    CHECK(s.count("webhooks.due_deliveries WHERE run_at BETWEEN now() + interval '3 s' AND now() + "
                  "interval "
                  "'6 s'") == 1);
    s.scratch.execute("UPDATE webhooks.due_deliveries SET run_at = now()");
    REQUIRE(s.hook.got(2));
    const auto &first = s.hook.requests()[0], &second = s.hook.requests()[1];
    CHECK(header(first, "webhook-id") == header(second, "webhook-id"));
    CHECK(first.body == second.body);
    CHECK(header(second, "webhook-attempt") == "2");
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded' AND attempts = 2", 1));
    CHECK(s.count("webhooks.attempts") == 2);
    CHECK(s.count("webhooks.attempts WHERE number = 1 AND status = 500 AND response_body = 'out of "
                  "order'") == 1);
}

TEST_CASE("a retry comes by itself after five seconds", "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    s.create_webhook(s.hook.url());
    s.hook.respond_with({testing::receiver::scripted_response(503)});
    const auto began = std::chrono::steady_clock::now();

    s.deliver({email_record(email(s.account))});

    REQUIRE(s.hook.got(2, 15s)); // the third attempt comes 30 s later
    CHECK(std::chrono::steady_clock::now() - began >= 4s);
}

TEST_CASE("after the last attempt a delivery shows as failed", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    s.hook.respond_always(testing::receiver::scripted_response(500));
    s.deliver({email_record(email(s.account))});
    s.scratch.execute("UPDATE webhooks.due_deliveries SET attempts = 9, is_retry = true");

    s.free_leases();
    testing::dispatcher another(s.scratch.dsn());
    another.start();

    CHECK(s.becomes(
        "webhooks.deliveries WHERE state = 'exhausted' AND attempts = 10 AND last_status = 500",
        1));
    CHECK(s.count("webhooks.due_deliveries") == 0);
}

TEST_CASE("410 switches the webhook off, and what it would have got is kept as skipped",
          "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(410));

    s.deliver({email_record(email(s.account))});

    REQUIRE(s.becomes(
        "webhooks.endpoints WHERE NOT is_enabled AND disabled_reason = 'it answered 410 Gone'", 1));
    CHECK(s.count("webhooks.deliveries WHERE state = 'aborted' AND last_status = 410") == 1);
    s.deliver({email_record(email(s.account))});
    CHECK(s.count("webhooks.deliveries WHERE state = 'skipped_disabled' AND attempts = 0") == 1);
    CHECK(s.count("webhooks.events") == 2);
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.hook.requests().size() == 1);
}

TEST_CASE("what waits for a webhook that was switched off is skipped when it comes due",
          "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    s.deliver({email_record(email(s.account))});
    await(s.process.endpoints.disable(s.account, webhook, "test"));

    s.free_leases();
    testing::dispatcher another(s.scratch.dsn());
    another.start();

    CHECK(
        s.becomes("webhooks.deliveries WHERE state = 'skipped_disabled' AND reason = 'the webhook "
                  "is switched off'",
                  1));
    CHECK(s.hook.requests().empty());
}

TEST_CASE("deliveries to an endpoint that the plan no longer has end as failed",
          "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    s.deliver({email_record(email(s.account))});
    plans::account_state shrunk;
    shrunk.account = s.account;
    shrunk.version = 2;
    shrunk.limits.webhooks = 0;
    const auto change =
        testing::to_record(events::make_row(shrunk, event_id::make(), trace::traceparent::make()));

    s.deliver({change});
    s.free_leases();
    testing::dispatcher another(s.scratch.dsn());
    another.start();

    CHECK(
        s.becomes("webhooks.deliveries WHERE state = 'aborted' AND reason = 'the plan has no place "
                  "for this webhook'",
                  1));
    s.deliver({email_record(email(s.account))});
    CHECK(s.count("webhooks.due_deliveries") == 0);
    CHECK(s.hook.requests().empty());
}

TEST_CASE("an account that was deleted loses its endpoints and rules", "[webhooks][postgres]")
{
    suite s;
    s.create_rule(s.create_webhook(s.hook.url()).webhook().webhook_id());
    plans::account_state deleted;
    deleted.account = s.account;
    deleted.is_deleted = true;
    deleted.version = 2;

    s.deliver({testing::to_record(
        events::make_row(deleted, event_id::make(), trace::traceparent::make()))});
    s.deliver({email_record(email(s.account))});

    CHECK(s.count("webhooks.endpoints") == 0);
    CHECK(s.count("webhooks.rules") == 0);
    CHECK(s.count("webhooks.due_deliveries") == 0);
}

TEST_CASE("more than the windows hold is stored and delivered, each once", "[webhooks][postgres]")
{
    constexpr int count = 200;
    suite s;
    s.process.start();
    s.create_webhook(s.hook.url());
    std::vector<kafka::record> batch;
    for (int i = 0; i < count; ++i)
        batch.push_back(email_record(email(s.account)));

    s.deliver(batch);

    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", count));
    CHECK(s.hook.requests().size() == count);
    std::set<std::string> ids;
    for (const auto& request : s.hook.requests())
        ids.insert(header(request, "webhook-id"));
    CHECK(ids.size() == count);
    CHECK(s.process.engine.held() == 0);
}

TEST_CASE("an endpoint that hangs does not delay another", "[webhooks][postgres]")
{
    suite s;
    testing::receiver healthy;
    s.process.start();
    s.create_webhook(s.hook.url());
    s.create_webhook(healthy.url());
    testing::receiver::scripted_response slow;
    slow.delay = 30s; // longer than the other's requests are waited for
    s.hook.respond_always(slow);
    std::vector<kafka::record> batch;
    for (int i = 0; i < 30; ++i)
        batch.push_back(email_record(email(s.account)));

    s.deliver(batch);

    REQUIRE(healthy.got(30));
    REQUIRE(s.hook.got(6));
    CHECK(s.hook.requests().size() == 6);
}

TEST_CASE("an open breaker parks deliveries without spending attempts", "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    s.create_webhook(s.hook.url());
    s.hook.respond_always(testing::receiver::scripted_response(500));
    std::vector<kafka::record> batch;
    for (int i = 0; i < 12; ++i)
        batch.push_back(email_record(email(s.account)));

    s.deliver(batch);

    REQUIRE(s.becomes("webhooks.due_deliveries WHERE lease_id IS NULL", 12));
    const auto sent = s.hook.requests().size();
    CHECK(sent < 12);
    CHECK(s.count(
              "webhooks.due_deliveries WHERE attempts = 0 AND run_at > now() + interval '20 s'") ==
          12 - static_cast<int>(sent));
    s.deliver({email_record(email(s.account))});
    CHECK(s.count(
              "webhooks.due_deliveries WHERE attempts = 0 AND run_at > now() + interval '20 s'") ==
          13 - static_cast<int>(sent));
    CHECK(s.hook.requests().size() == sent);
}
