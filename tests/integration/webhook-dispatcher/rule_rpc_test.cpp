#include "integration/webhook-dispatcher/requests.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::account_on_plan;
using testing::await;
using testing::error_of;
using testing::get_rule_request;
using testing::rule_change_of;
using testing::suite;

namespace {

namespace v1 = webhooks::v1;

void add_condition(v1::Rule& rule, const std::string& field, const std::string& how,
                   const std::string& value)
{
    auto& condition = *rule.add_conditions();
    condition.set_field(field);
    condition.set_operator_(how);
    condition.set_value(value);
}

v1::TestRulesRequest test_of(account_id account, const std::string& subject)
{
    v1::TestRulesRequest request;
    *request.mutable_account() = account_on_plan(account, 5, 20);
    request.set_from("Robot@Sender.example");
    request.add_to("box+orders@example.org");
    request.add_to("box@example.org");
    request.set_subject(subject);
    return request;
}

v1::TestRulesResponse test(suite& s, const v1::TestRulesRequest& request)
{
    return await(s.process.rule_rpc.test(request)).value();
}

std::vector<std::string> ids(const google::protobuf::RepeatedPtrField<std::string>& given)
{
    return {given.begin(), given.end()};
}

} // namespace

TEST_CASE("a rule is read and changed field by field", "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto first = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto second = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto rule = s.create_rule(first, "invoice");
    const auto before =
        await(s.process.rule_rpc.get(get_rule_request(s.account, rule))).value().rule();

    auto request = rule_change_of(s.account, rule);
    request.set_name("Bills");
    auto changed = await(s.process.rule_rpc.update(request)).value().rule();
    CHECK(changed.name() == "Bills");
    CHECK(changed.webhook_id() == first);
    REQUIRE(changed.conditions_size() == 1);
    CHECK(changed.conditions(0).value() == "invoice");
    CHECK(changed.is_enabled());
    CHECK(changed.created_at().SerializeAsString() == before.created_at().SerializeAsString());

    request = rule_change_of(s.account, rule);
    request.set_webhook_id(second);
    request.mutable_conditions();
    request.set_is_enabled(false);
    changed = await(s.process.rule_rpc.update(request)).value().rule();
    CHECK(changed.name() == "Bills");
    CHECK(changed.webhook_id() == second);
    CHECK(changed.conditions_size() == 0);
    CHECK_FALSE(changed.is_enabled());
    const auto stored =
        await(s.process.rule_rpc.get(get_rule_request(s.account, rule))).value().rule();
    CHECK(stored.SerializeAsString() == changed.SerializeAsString());
}

TEST_CASE("a wrong change of a rule says what is wrong and changes nothing",
          "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto rule = s.create_rule(s.create_webhook("https://1.1.1.1/").webhook().webhook_id());
    const auto before = await(s.process.rule_rpc.get(get_rule_request(s.account, rule)))
                            .value()
                            .SerializeAsString();
    const auto refusal = [&](const auto& alter) {
        auto request = rule_change_of(s.account, rule);
        alter(request);
        return error_of(await(s.process.rule_rpc.update(request)));
    };

    CHECK(refusal([](auto& request) { request.set_name(""); }).message ==
          "name must have 1 to 100 characters, not 0");
    CHECK(refusal([](auto& request) { request.set_webhook_id("7"); }).code ==
          errc::invalid_argument);
    const auto missing = webhook_id::make().text();
    CHECK(refusal([&](auto& request) { request.set_webhook_id(missing); }).message ==
          "Webhook " + missing + " does not exist");
    CHECK(refusal([](auto& request) {
              request.mutable_conditions()->add_conditions()->set_field("body");
          }).message == "conditions[0].field must be subject, from or to, not \"body\"");
    CHECK(refusal([](auto& request) {
              *request.mutable_account() = account_on_plan(account_id::make(), 5, 20);
          }).code == errc::not_found);
    CHECK(refusal([&](auto& request) {
              *request.mutable_account() = account_on_plan(s.account, 5, 0, 2);
          }).code == errc::permission_denied);
    CHECK(await(s.process.rule_rpc.get(get_rule_request(s.account, rule)))
              .value()
              .SerializeAsString() == before);
}

TEST_CASE("a rule cannot be pointed at another account's webhook",
          "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto rule = s.create_rule(s.create_webhook("https://1.1.1.1/").webhook().webhook_id());
    const auto other = account_id::make();
    const auto foreign =
        await(s.process.webhook_rpc.create(testing::webhook_request(other, "https://1.1.1.1/")));

    auto request = rule_change_of(s.account, rule);
    request.set_webhook_id(foreign->webhook().webhook_id());

    CHECK(error_of(await(s.process.rule_rpc.update(request))).code == errc::not_found);
    CHECK(error_of(await(s.process.rule_rpc.get(get_rule_request(other, rule)))).code ==
          errc::not_found);
    auto drafts = test_of(s.account, "x");
    drafts.mutable_rules()->add_rules()->set_webhook_id(foreign->webhook().webhook_id());
    CHECK(error_of(await(s.process.rule_rpc.test(drafts))).code == errc::not_found);
}

TEST_CASE("rules that outlive their plan can be read and deleted, not made, changed or tested",
          "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto rule = s.create_rule(webhook);
    const auto without = account_on_plan(s.account, 3, 0, 2);

    auto made = testing::rule_request(s.account, webhook);
    *made.mutable_account() = without;
    CHECK(error_of(await(s.process.rule_rpc.create(made))).code == errc::permission_denied);
    auto tested = test_of(s.account, "x");
    *tested.mutable_account() = without;
    CHECK(error_of(await(s.process.rule_rpc.test(tested))).message ==
          "Routing rules are not part of the plan premium");
    CHECK(await(s.process.rule_rpc.get(get_rule_request(s.account, rule))).has_value());
    v1::DeleteRuleRequest deleted;
    deleted.set_account_id(s.account.text());
    deleted.set_rule_id(rule);
    CHECK(await(s.process.rule_rpc.remove(deleted)).has_value());
}

TEST_CASE("the tester explains each condition of the stored rules and says where a mail goes",
          "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto bills = s.create_webhook("https://1.1.1.1/bills").webhook().webhook_id();
    const auto rest = s.create_webhook("https://1.1.1.1/rest").webhook().webhook_id();
    auto request = testing::rule_request(s.account, bills, "RECHNUNG");
    auto& second = *request.add_conditions();
    second.set_field("to");
    second.set_operator_("starts_with");
    second.set_value("BOX+ORDERS");
    const auto rule = await(s.process.rule_rpc.create(request)).value().rule().rule_id();
    s.create_rule(rest, "other");

    const auto hit = test(s, test_of(s.account, "Ihre Rechnung"));
    REQUIRE(hit.rules_size() == 2);
    CHECK(hit.rules(0).rule_id() == rule);
    CHECK(hit.rules(0).matched());
    REQUIRE(hit.rules(0).conditions_size() == 2);
    CHECK(hit.rules(0).conditions(0).actual() == "Ihre Rechnung");
    CHECK(hit.rules(0).conditions(0).condition().value() == "RECHNUNG");
    CHECK(hit.rules(0).conditions(1).actual() == "box+orders@example.org");
    CHECK(hit.rules(0).conditions(1).matched());
    CHECK_FALSE(hit.rules(1).matched());
    CHECK(ids(hit.webhook_ids()) == std::vector{bills});

    const auto miss = test(s, test_of(s.account, "Hello"));
    CHECK_FALSE(miss.rules(0).conditions(0).matched());
    CHECK(miss.rules(0).conditions(1).matched());
    CHECK_FALSE(miss.rules(0).matched());
    CHECK(miss.webhook_ids_size() == 0);
}

TEST_CASE("unsaved rules are tested in place of the stored ones, and nothing is stored",
          "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto stored_at = s.create_webhook("https://1.1.1.1/a").webhook().webhook_id();
    const auto draft_at = s.create_webhook("https://1.1.1.1/b").webhook().webhook_id();
    s.create_rule(stored_at);
    auto request = test_of(s.account, "Größe XL");
    auto& draft = *request.mutable_rules()->add_rules();
    draft.set_webhook_id(draft_at);
    draft.set_is_enabled(true);
    add_condition(draft, "subject", "ends_with", "xl");
    auto& bare = *request.mutable_rules()->add_rules();
    bare.set_is_enabled(true);
    add_condition(bare, "from", "equals", "ROBOT@sender.example");

    const auto tested = test(s, request);

    REQUIRE(tested.rules_size() == 2);
    CHECK(tested.rules(0).rule_id().empty());
    CHECK(tested.rules(0).matched());
    CHECK(tested.rules(1).matched());
    CHECK(ids(tested.webhook_ids()) == std::vector{draft_at});
    CHECK(s.count("webhooks.rules") == 1);
}

TEST_CASE(
    "the tester knows what dispatching knows: disabled rules, disabled webhooks, subscriptions",
    "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto on = s.create_webhook("https://1.1.1.1/on").webhook().webhook_id();
    const auto off = s.create_webhook("https://1.1.1.1/off").webhook().webhook_id();
    await(s.process.webhook_rpc.update(testing::switch_of(s.account, off, false))).value();

    // Without rules the subscriptions decide.
    CHECK(ids(test(s, test_of(s.account, "x")).webhook_ids()) == std::vector{on});

    // A rule that is off matches, but decides nothing.
    const auto rule = s.create_rule(off);
    auto request = rule_change_of(s.account, rule);
    request.set_is_enabled(false);
    await(s.process.rule_rpc.update(request)).value();
    const auto with_rule_off = test(s, test_of(s.account, "x"));
    REQUIRE(with_rule_off.rules_size() == 1);
    CHECK(with_rule_off.rules(0).matched());
    CHECK_FALSE(with_rule_off.rules(0).is_enabled());
    CHECK(ids(with_rule_off.webhook_ids()) == std::vector{on});

    // An enabled rule sends the mail to a disabled webhook, so to nobody.
    request.set_is_enabled(true);
    await(s.process.rule_rpc.update(request)).value();
    CHECK(test(s, test_of(s.account, "x")).webhook_ids_size() == 0);
}

TEST_CASE("an account that never had a webhook can test rules", "[webhooks][rules][rpc][postgres]")
{
    suite s;
    auto request = test_of(s.account, "x");
    request.mutable_rules()->add_rules()->set_is_enabled(true);

    const auto tested = test(s, request);

    REQUIRE(tested.rules_size() == 1);
    CHECK(tested.rules(0).matched());
    CHECK(tested.webhook_ids_size() == 0);
}

TEST_CASE("wrong tests are refused by name", "[webhooks][rules][rpc][postgres]")
{
    suite s;
    const auto refusal = [&](const auto& alter) {
        auto request = test_of(s.account, "x");
        alter(request);
        return error_of(await(s.process.rule_rpc.test(request)));
    };

    CHECK(refusal([](auto& request) {
              add_condition(*request.mutable_rules()->add_rules(), "subject", "equals", "");
          }).message == "rules[0].conditions[0].value must have 1 to 500 characters, not 0");
    CHECK(refusal([](auto& request) {
              request.mutable_rules()->add_rules()->set_rule_id("7");
          }).code == errc::invalid_argument);
    CHECK(refusal([](auto& request) { request.set_subject(std::string(10'001, 'x')); }).code ==
          errc::invalid_argument);
    CHECK(refusal([](auto& request) {
              for (int i = 0; i < 21; ++i)
                  request.mutable_rules()->add_rules();
          }).message == "rules must have at most 20 items, not 21");
}
