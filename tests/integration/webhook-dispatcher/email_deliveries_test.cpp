#include "integration/webhook-dispatcher/deliveries_suite.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;
using testing::deliveries_suite;
using testing::email;
using testing::email_record;

namespace {

webhooks::v1::GetEmailDeliveriesResponse deliveries_of(deliveries_suite& s,
                                                       const std::string& email, account_id account)
{
    webhooks::v1::GetEmailDeliveriesRequest request;
    request.set_account_id(account.text());
    request.set_email_id(email);
    return await(s.process.delivery_rpc.get_email_deliveries(request)).value();
}

std::vector<std::string> rule_names(const webhooks::v1::GetEmailDeliveriesResponse& found)
{
    std::vector<std::string> names;
    for (const auto& rule : found.rules())
        names.push_back(rule.has_name() ? rule.name() : "(deleted)");
    return names;
}

} // namespace

TEST_CASE("an email's deliveries are found with rules and attempts, pending and finished",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto rule = s.create_rule(webhook, "invoice");
    const auto other = s.create_rule(webhook, "welcome");
    s.hook.respond_with({testing::receiver::scripted_response(500)});
    const auto mail = email(s.account, "Invoice 1");
    s.deliver({email_record(mail)});
    REQUIRE(s.becomes("webhooks.due_deliveries WHERE attempts = 1 AND lease_id IS NULL", 1));

    const auto pending = deliveries_of(s, mail.email_id(), s.account);

    REQUIRE(pending.rules_size() == 2);
    CHECK(pending.rules(0).rule_id() == rule);
    CHECK(pending.rules(0).matched());
    CHECK(pending.rules(0).has_name());
    CHECK(pending.rules(1).rule_id() == other);
    CHECK_FALSE(pending.rules(1).matched());
    REQUIRE(pending.deliveries_size() == 1);
    const auto& delivery = pending.deliveries(0);
    CHECK(delivery.webhook_id() == webhook);
    const auto read = s.get(webhook, delivery.delivery_id());
    REQUIRE(read);
    CHECK(read->delivery().event_id() == mail.email_id());
    CHECK(read->delivery().webhook_id() == webhook);
    CHECK(delivery.url() == s.hook.url());
    CHECK(delivery.status() == "pending");
    CHECK(delivery.has_next_attempt_at());
    CHECK_FALSE(delivery.has_reason());
    REQUIRE(delivery.rule_ids_size() == 1);
    CHECK(delivery.rule_ids(0) == rule);
    REQUIRE(delivery.attempts_size() == 1);
    CHECK(delivery.attempts(0).number() == 1);
    CHECK(delivery.attempts(0).status_code() == 500);
    CHECK_FALSE(pending.is_truncated());

    s.scratch.execute("UPDATE webhooks.due_deliveries SET run_at = now()");
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    const auto done = deliveries_of(s, mail.email_id(), s.account);

    REQUIRE(done.deliveries_size() == 1);
    CHECK(done.deliveries(0).status() == "succeeded");
    CHECK_FALSE(done.deliveries(0).has_next_attempt_at());
    CHECK(done.deliveries(0).created_at().seconds() == delivery.created_at().seconds());
    REQUIRE(done.deliveries(0).attempts_size() == 2);
    CHECK(done.deliveries(0).attempts(1).number() == 2);
    CHECK(done.deliveries(0).attempts(1).status_code() == 200);
}

TEST_CASE("an email that went to a webhook without being sent is found with the reason",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    const auto event = s.fail(1)[0];
    s.scratch.execute("UPDATE webhooks.deliveries SET reason = 'it answered 410 Gone'");

    const auto found = deliveries_of(s, event, s.account);

    CHECK(found.rules_size() == 0);
    REQUIRE(found.deliveries_size() == 1);
    CHECK(found.deliveries(0).status() == "failed");
    CHECK(found.deliveries(0).reason() == "it answered 410 Gone");
    CHECK(found.deliveries(0).attempts_size() == 0);
}

TEST_CASE("what a deleted rule and a deleted webhook did to an email is still found",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.create_rule(webhook, "hello");
    const auto mail = email(s.account, "Hello");
    s.deliver({email_record(mail)});
    s.scratch.execute(
        "WITH moved AS (DELETE FROM webhooks.due_deliveries RETURNING *) "
        "INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, attempts, "
        "rule_ids, created_at) "
        "SELECT event_id, webhook_id, account_id, 'succeeded', 1, rule_ids, created_at FROM moved");
    s.scratch.execute("DELETE FROM webhooks.rules");
    s.scratch.execute("DELETE FROM webhooks.endpoints");

    const auto found = deliveries_of(s, mail.email_id(), s.account);

    CHECK(rule_names(found) == std::vector<std::string>{"(deleted)"});
    REQUIRE(found.deliveries_size() == 1);
    CHECK(found.deliveries(0).webhook_id() == webhook);
    CHECK_FALSE(found.deliveries(0).has_url());
}

TEST_CASE("another account finds nothing of an email", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    s.create_rule(s.create_webhook(s.hook.url()).webhook().webhook_id(), "hello");
    const auto mail = email(s.account, "Hello");
    s.deliver({email_record(mail)});

    const auto own = deliveries_of(s, mail.email_id(), s.account);
    const auto foreign = deliveries_of(s, mail.email_id(), account_id::make());

    CHECK(own.rules_size() == 1);
    CHECK(own.deliveries_size() == 1);
    CHECK(foreign.rules_size() == 0);
    CHECK(foreign.deliveries_size() == 0);
    webhooks::v1::GetEmailDeliveriesRequest wrong;
    wrong.set_account_id(s.account.text());
    wrong.set_email_id("none");
    CHECK(await(s.process.delivery_rpc.get_email_deliveries(wrong)).error().code ==
          errc::invalid_argument);
}

TEST_CASE("of many deliveries, attempts and rules a bounded part is found, and said so",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto event = event_id::make().text();
    const auto key = "'" + event + "'::uuid, ", account = "'" + s.account.text() + "'::uuid, ";
    // 101 deliveries, of which the first has 11 attempts; 101 rules, of which the last matched.
    s.scratch.execute("INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, "
                      "attempts, rule_ids, created_at) SELECT " +
                      key + "lpad(to_hex(n), 32, '0')::uuid, " + account +
                      "'succeeded', 11, '{}', now() + n * interval '1 millisecond' "
                      "FROM generate_series(1, 101) AS n");
    s.scratch.execute("INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, "
                      "account_id, at, duration_ms, status) SELECT " +
                      key + "lpad('1', 32, '0')::uuid, n, gen_random_uuid(), " + account +
                      "now() + n * interval '1 second', 5, 500 FROM generate_series(1, 11) AS n");
    s.scratch.execute("INSERT INTO webhooks.routings (event_id, account_id, rule_ids, matched) "
                      "SELECT " +
                      key + account +
                      "array_agg(lpad(to_hex(n), 32, '0')::uuid ORDER BY n), "
                      "array_agg(n = 101 ORDER BY n) FROM generate_series(1, 101) AS n");

    const auto found = deliveries_of(s, event, s.account);

    CHECK(found.is_truncated());
    REQUIRE(found.deliveries_size() == 100);
    REQUIRE(found.deliveries(0).attempts_size() == 10);
    CHECK(found.deliveries(0).attempts(0).number() == 2); // the newest ten
    CHECK(found.deliveries(0).attempts(9).number() == 11);
    REQUIRE(found.rules_size() == 100);
    CHECK_FALSE(found.rules(98).matched());
    CHECK(found.rules(99).matched());
}
