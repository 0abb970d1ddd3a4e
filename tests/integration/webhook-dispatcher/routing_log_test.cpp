#include "integration/webhook-dispatcher/suite.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;
using testing::email;
using testing::email_record;
using testing::suite;

namespace {

webhooks::v1::GetRoutingResponse routing_of(suite& s, const std::string& email, account_id account)
{
    webhooks::v1::GetRoutingRequest request;
    request.set_account_id(account.text());
    request.set_email_id(email);
    return await(s.process.delivery_rpc.get_routing(request)).value();
}

} // namespace

TEST_CASE("each mail keeps the match of every rule, matched or not", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto invoices = s.create_rule(webhook, "invoice"),
               welcomes = s.create_rule(webhook, "welcome");
    const auto first = email(s.account, "Your invoice"), none = email(s.account, "Hello");

    s.deliver({email_record(first), email_record(none)});

    const auto routed = routing_of(s, first.email_id(), s.account);
    CHECK(routed.is_known());
    REQUIRE(routed.rules_size() == 2);
    CHECK(routed.rules(0).rule_id() == invoices);
    CHECK(routed.rules(0).matched());
    CHECK(routed.rules(1).rule_id() == welcomes);
    CHECK_FALSE(routed.rules(1).matched());
    const auto nowhere = routing_of(s, none.email_id(), s.account);
    CHECK(nowhere.is_known());
    REQUIRE(nowhere.rules_size() == 2);
    CHECK_FALSE(nowhere.rules(0).matched());
    CHECK(s.count("webhooks.events") == 1);
    CHECK(s.count("webhooks.due_deliveries") == 1);
}

TEST_CASE("the match of a rule is kept as it was when the mail came, also when Kafka brings the "
          "mail again",
          "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto before = s.create_rule(webhook, "hello");
    const auto mail = email(s.account, "Hello");
    s.deliver({email_record(mail)});

    s.create_rule(webhook, "other");
    s.deliver({email_record(mail)});

    const auto routed = routing_of(s, mail.email_id(), s.account);
    REQUIRE(routed.rules_size() == 1);
    CHECK(routed.rules(0).rule_id() == before);
}

TEST_CASE("a damaged routing fails alone", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.create_rule(webhook, "hello");
    const auto good = email(s.account, "Hello"), damaged = email(s.account, "Hello");
    s.deliver({email_record(good), email_record(damaged)});
    s.scratch.execute("UPDATE webhooks.routings SET matched = '{}' WHERE event_id = '" +
                      damaged.email_id() + "'");

    const auto found = await(s.process.deliveries.find_routings(
        {{s.account, event_id::parse(damaged.email_id()).value()},
         {s.account, event_id::parse(good.email_id()).value()}}));

    CHECK(found[0].error().code == errc::internal);
    REQUIRE(found[1].value());
    CHECK(found[1].value()->at(0).matched);
}

TEST_CASE("without rules nothing is written about an email's routing", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    const auto mail = email(s.account);

    s.deliver({email_record(mail)});

    CHECK(s.count("webhooks.due_deliveries") == 1);
    CHECK(s.count("webhooks.routings") == 0);
    CHECK_FALSE(routing_of(s, mail.email_id(), s.account).is_known());
}

TEST_CASE("another account does not see the matches of rules", "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    s.create_rule(s.create_webhook(s.hook.url()).webhook().webhook_id(), "hello");
    const auto mail = email(s.account, "Hello");
    s.deliver({email_record(mail)});

    CHECK(routing_of(s, mail.email_id(), s.account).is_known());
    CHECK_FALSE(routing_of(s, mail.email_id(), account_id::make()).is_known());
}
