#include "integration/webhook-dispatcher/suite.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using testing::await;
using testing::rule_request;
using testing::suite;
using testing::webhook_request;

namespace {

namespace v1 = webhooks::v1;

template <class T>
failure error_of(const result<T>& response)
{
    return response ? failure{} : response.error();
}

v1::GetWebhookRequest get_request(account_id account, const std::string& webhook)
{
    v1::GetWebhookRequest request;
    request.set_account_id(account.text());
    request.set_webhook_id(webhook);
    return request;
}

v1::DeleteWebhookRequest delete_request(account_id account, const std::string& webhook)
{
    v1::DeleteWebhookRequest request;
    request.set_account_id(account.text());
    request.set_webhook_id(webhook);
    return request;
}

v1::ListWebhooksRequest list_request(account_id account, int limit = 0,
                                     const std::string& cursor = "", bool is_oldest_first = false)
{
    v1::ListWebhooksRequest request;
    request.set_account_id(account.text());
    request.set_limit(limit);
    request.set_cursor(cursor);
    request.set_oldest_first(is_oldest_first);
    return request;
}

v1::ListRulesRequest rules_request(account_id account)
{
    v1::ListRulesRequest request;
    request.set_account_id(account.text());
    return request;
}

v1::DeleteRuleRequest delete_rule_request(account_id account, const std::string& rule)
{
    v1::DeleteRuleRequest request;
    request.set_account_id(account.text());
    request.set_rule_id(rule);
    return request;
}

// Sends many calls at once and returns the codes of those that failed.
template <class Response, class Call, class Request>
std::vector<errc> all_at_once(const std::vector<Request>& requests, Call call)
{
    std::vector<errc> refused;
    std::size_t done = 0;
    for (const auto& request : requests) {
        boost::asio::co_spawn(testing::test_host().executor(), call(request),
                              [&](std::exception_ptr error, result<Response> response) {
                                  if (error)
                                      refused.push_back(errc::internal);
                                  else if (!response)
                                      refused.push_back(response.error().code);
                                  ++done;
                              });
    }
    if (!testing::eventually([&] { return done == requests.size(); }))
        throw std::runtime_error("calls did not end");
    return refused;
}

} // namespace

TEST_CASE("a webhook is made, read, listed and deleted", "[webhooks][rpc][postgres]")
{
    suite s;
    auto request = webhook_request(s.account, "https://example.com/hook");
    request.add_events("inbox.expired");
    request.add_events("email.received");
    request.set_description("orders");

    const auto created = await(s.process.webhook_rpc.create(request)).value();

    CHECK(created.webhook().webhook_id() == request.webhook_id());
    CHECK(created.webhook().url() == "https://example.com/hook");
    CHECK(created.webhook().events_size() == 2);
    CHECK(created.webhook().events(0) == "email.received");
    CHECK(created.webhook().description() == "orders");
    CHECK(created.webhook().is_enabled());
    CHECK_FALSE(created.webhook().has_disabled_reason());
    CHECK(webhooks::read_signing_secret(secret{created.secret()}).has_value());

    const auto found =
        await(s.process.webhook_rpc.get(get_request(s.account, request.webhook_id()))).value();
    CHECK(found.webhook().SerializeAsString() == created.webhook().SerializeAsString());
    CHECK(await(s.process.webhook_rpc.list(list_request(s.account))).value().webhooks_size() == 1);

    CHECK(await(s.process.webhook_rpc.remove(delete_request(s.account, request.webhook_id())))
              .has_value());
    CHECK(error_of(await(s.process.webhook_rpc.get(get_request(s.account, request.webhook_id()))))
              .code == errc::not_found);
    CHECK(error_of(
              await(s.process.webhook_rpc.remove(delete_request(s.account, request.webhook_id()))))
              .message == "Webhook " + request.webhook_id() + " does not exist");
}

TEST_CASE("without events a webhook gets all three", "[webhooks][rpc][postgres]")
{
    suite s;

    CHECK(s.create_webhook("https://example.com/").webhook().events_size() == 3);
}

TEST_CASE("a webhook that is made again with its id keeps its secret", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto request = webhook_request(s.account, "https://example.com/");

    const auto first = await(s.process.webhook_rpc.create(request)).value();
    const auto second = await(s.process.webhook_rpc.create(request)).value();

    CHECK(first.SerializeAsString() == second.SerializeAsString());
    CHECK(s.count("webhooks.endpoints") == 1);
}

TEST_CASE("the webhooks of an account are listed newest first, page by page",
          "[webhooks][rpc][postgres]")
{
    suite s;
    std::vector<std::string> expected;
    for (int i = 0; i < 5; ++i)
        expected.insert(
            expected.begin(),
            s.create_webhook("https://example.com/" + std::to_string(i)).webhook().webhook_id());

    std::vector<std::string> listed;
    std::string cursor;
    do {
        const auto page =
            await(s.process.webhook_rpc.list(list_request(s.account, 2, cursor))).value();
        CHECK(page.webhooks_size() <= 2);
        for (const auto& webhook : page.webhooks())
            listed.push_back(webhook.webhook_id());
        cursor = page.next_cursor();
    } while (!cursor.empty());

    CHECK(listed == expected);
    CHECK(
        error_of(await(s.process.webhook_rpc.list(list_request(s.account, 2, "nonsense")))).code ==
        errc::invalid_argument);
    CHECK(error_of(await(s.process.webhook_rpc.list(list_request(s.account, 101)))).message ==
          "limit must be an integer from 1 to 100, not 101");
}

TEST_CASE("the webhooks of an account are listed oldest first, and a cursor belongs to its order",
          "[webhooks][rpc][list-order][postgres]")
{
    suite s;
    std::vector<std::string> expected;
    for (int i = 0; i < 5; ++i)
        expected.push_back(
            s.create_webhook("https://example.com/" + std::to_string(i)).webhook().webhook_id());
    const auto list = [&](const std::string& cursor, bool is_oldest_first) {
        return await(
            s.process.webhook_rpc.list(list_request(s.account, 2, cursor, is_oldest_first)));
    };

    std::vector<std::string> listed;
    std::string cursor;
    do {
        const auto page = list(cursor, true).value();
        for (const auto& webhook : page.webhooks())
            listed.push_back(webhook.webhook_id());
        cursor = page.next_cursor();
    } while (!cursor.empty());

    CHECK(listed == expected);
    const auto oldest = list("", true).value().next_cursor();
    const auto newest = list("", false).value().next_cursor();
    CHECK(error_of(list(oldest, false)).reason == error_reason::invalid_cursor);
    CHECK(error_of(list(newest, true)).reason == error_reason::invalid_cursor);
}

TEST_CASE("bad fields are refused by name", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto refusal = [&](const auto& change) {
        auto request = webhook_request(s.account, "https://example.com/");
        change(request);
        return error_of(await(s.process.webhook_rpc.create(request)));
    };

    CHECK(refusal([](auto& request) {
              request.set_url("http://10.0.0.1/");
          }).message.starts_with("url must lead to a public address"));
    CHECK(refusal([](auto& request) {
              request.set_url("ftp://example.com/");
          }).message.starts_with("url must begin with"));
    CHECK(refusal([](auto& request) {
              request.add_events("email.sent");
          }).message.starts_with("events must be"));
    CHECK(refusal([](auto& request) {
              request.set_webhook_id("7");
          }).message.starts_with("webhookId must be a UUID"));
    CHECK(refusal([](auto& request) { request.set_description(std::string(501, 'x')); }).message ==
          "description must have 0 to 500 characters, not 501");
    CHECK(refusal([](auto& request) { request.set_description("a\x01"); }).code ==
          errc::invalid_argument);
    CHECK(s.count("webhooks.endpoints") == 0);
}

TEST_CASE("a name that leads to a private address is refused, one that does not resolve is taken",
          "[webhooks][rpc][postgres][ssrf]")
{
    webhooks::url_policy strict;
    testing::scratch_database scratch({"webhooks"});
    testing::dispatcher process(scratch.dsn(), strict);
    const auto account = account_id::make();

    CHECK(
        error_of(await(process.webhook_rpc.create(webhook_request(account, "https://localhost/"))))
            .message ==
        "url must lead to a public address; \"localhost\" is private, local or reserved");
    CHECK(await(process.webhook_rpc.create(
                    webhook_request(account, "https://does-not-exist.invalid/")))
              .has_value());
}

TEST_CASE("the plan's number of webhooks holds under concurrency", "[webhooks][rpc][postgres]")
{
    suite s;
    std::vector<v1::CreateWebhookRequest> requests;
    for (int i = 0; i < 20; ++i)
        requests.push_back(webhook_request(s.account, "https://1.1.1.1/", 3));

    const auto refused = all_at_once<v1::CreateWebhookResponse>(
        requests, [&](const v1::CreateWebhookRequest& request) {
            return s.process.webhook_rpc.create(request);
        });

    CHECK(refused == std::vector<errc>(17, errc::permission_denied));
    CHECK(s.count("webhooks.endpoints") == 3);
    const auto one_more =
        await(s.process.webhook_rpc.create(webhook_request(s.account, "https://1.1.1.1/", 3)));
    CHECK(error_of(one_more).message.find("has 3 webhooks, all in use") != std::string::npos);
    CHECK(error_of(one_more).reason == error_reason::webhook_limit);
}

TEST_CASE("the plan's number of rules holds under concurrency", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    std::vector<v1::CreateRuleRequest> requests;
    for (int i = 0; i < 30; ++i)
        requests.push_back(rule_request(s.account, webhook));

    const auto refused =
        all_at_once<v1::CreateRuleResponse>(requests, [&](const v1::CreateRuleRequest& request) {
            return s.process.rule_rpc.create(request);
        });

    CHECK(refused == std::vector<errc>(10, errc::permission_denied));
    CHECK(s.count("webhooks.rules") == 20);
    const auto one_more =
        error_of(await(s.process.rule_rpc.create(rule_request(s.account, webhook))));
    CHECK(one_more.reason == error_reason::rule_limit);
}

TEST_CASE("plans without webhooks or rules say so", "[webhooks][rpc][postgres]")
{
    suite s;
    auto no_webhooks = webhook_request(s.account, "https://1.1.1.1/", 0);
    no_webhooks.mutable_account()->set_plan("free");
    CHECK(error_of(await(s.process.webhook_rpc.create(no_webhooks))).message ==
          "Webhooks are not part of the plan free");

    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    auto no_rules = rule_request(s.account, webhook);
    *no_rules.mutable_account() = testing::account_on_plan(s.account, 3, 0, 2);
    CHECK(error_of(await(s.process.rule_rpc.create(no_rules))).code == errc::permission_denied);
}

TEST_CASE("the newest known version of a plan decides, whichever way it came",
          "[webhooks][rpc][postgres]")
{
    suite s;
    plans::account_state shrunk;
    shrunk.account = s.account;
    shrunk.version = 7;
    shrunk.limits.webhooks = 1;
    s.deliver({testing::to_record(
        events::make_row(shrunk, event_id::make(), trace::traceparent::make()))});

    CHECK(await(s.process.webhook_rpc.create(webhook_request(s.account, "https://1.1.1.1/")))
              .has_value());
    CHECK(error_of(
              await(s.process.webhook_rpc.create(webhook_request(s.account, "https://1.1.1.1/"))))
              .code == errc::permission_denied);
}

TEST_CASE("a rule is made, listed and deleted", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    auto request = rule_request(s.account, webhook, "Größe \"XL\"");
    request.set_name("Sizes");
    request.set_is_enabled(false);

    const auto created = await(s.process.rule_rpc.create(request)).value().rule();
    const auto again = await(s.process.rule_rpc.create(request)).value().rule();

    CHECK(created.SerializeAsString() == again.SerializeAsString());
    CHECK(created.name() == "Sizes");
    CHECK_FALSE(created.is_enabled());
    REQUIRE(created.conditions_size() == 1);
    CHECK(created.conditions(0).value() == "Größe \"XL\"");
    const auto listed = await(s.process.rule_rpc.list(rules_request(s.account))).value();
    REQUIRE(listed.rules_size() == 1);
    CHECK(listed.rules(0).SerializeAsString() == created.SerializeAsString());

    CHECK(await(s.process.rule_rpc.remove(delete_rule_request(s.account, created.rule_id())))
              .has_value());
    CHECK(error_of(
              await(s.process.rule_rpc.remove(delete_rule_request(s.account, created.rule_id()))))
              .code == errc::not_found);
}

TEST_CASE("bad fields of a rule are refused by name", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto refusal = [&](const auto& change) {
        auto request = rule_request(s.account, webhook, "x");
        change(request);
        return error_of(await(s.process.rule_rpc.create(request))).message;
    };

    CHECK(refusal([](auto& request) { request.set_name(""); }) ==
          "name must have 1 to 100 characters, not 0");
    CHECK(refusal([](auto& request) { request.set_name(std::string(101, 'x')); }) ==
          "name must have 1 to 100 characters, not 101");
    CHECK(refusal([](auto& request) { request.mutable_conditions(0)->set_field("body"); }) ==
          "conditions[0].field must be subject, from or to, not \"body\"");
    CHECK(refusal([](auto& request) { request.mutable_conditions(0)->set_operator_("matches"); }) ==
          "conditions[0].operator must be contains, equals, starts_with or ends_with, not "
          "\"matches\"");
    CHECK(refusal([](auto& request) { request.mutable_conditions(0)->set_value(""); }) ==
          "conditions[0].value must have 1 to 500 characters, not 0");
    CHECK(refusal([](auto& request) {
              for (int i = 0; i < 5; ++i)
                  *request.add_conditions() = request.conditions(0);
          }) == "conditions must have 0 to 5 items, not 6");
    CHECK(s.count("webhooks.rules") == 0);
}

TEST_CASE("a webhook that rules name cannot be deleted", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook("https://1.1.1.1/").webhook().webhook_id();
    const auto rule = s.create_rule(webhook);

    const auto refused =
        error_of(await(s.process.webhook_rpc.remove(delete_request(s.account, webhook))));
    CHECK(refused.code == errc::conflict);
    CHECK(refused.message ==
          "Webhook " + webhook + " is named by the routing rule \"rule\"; delete it first");

    REQUIRE(await(s.process.rule_rpc.remove(delete_rule_request(s.account, rule))).has_value());
    CHECK(await(s.process.webhook_rpc.remove(delete_request(s.account, webhook))).has_value());
}

TEST_CASE("what waits for a webhook goes with it", "[webhooks][rpc][postgres]")
{
    suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.deliver({testing::email_record(testing::email(s.account)),
               testing::email_record(testing::email(s.account))});
    s.free_leases();
    s.scratch.execute(
        "UPDATE webhooks.due_deliveries SET lease_id = gen_random_uuid(), lease_until = now() + "
        "interval '1 s' WHERE event_id = "
        "(SELECT min(event_id::text)::uuid FROM webhooks.due_deliveries)");

    REQUIRE(await(s.process.webhook_rpc.remove(delete_request(s.account, webhook))).has_value());
    CHECK(s.count("webhooks.due_deliveries") == 1);

    // The one that was being sent is dropped as it comes due again.
    testing::dispatcher another(s.scratch.dsn());
    another.start();
    CHECK(s.becomes("webhooks.due_deliveries", 0));
    CHECK(s.count("webhooks.deliveries") == 0);
    CHECK(s.hook.requests().empty());
}

TEST_CASE("another account sees and changes nothing", "[webhooks][rpc][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto rule = s.create_rule(webhook);
    const auto other = account_id::make();

    CHECK(error_of(await(s.process.webhook_rpc.get(get_request(other, webhook)))).code ==
          errc::not_found);
    CHECK(error_of(await(s.process.webhook_rpc.remove(delete_request(other, webhook)))).code ==
          errc::not_found);
    CHECK(await(s.process.webhook_rpc.list(list_request(other))).value().webhooks_size() == 0);
    CHECK(await(s.process.rule_rpc.list(rules_request(other))).value().rules_size() == 0);
    CHECK(error_of(await(s.process.rule_rpc.remove(delete_rule_request(other, rule)))).code ==
          errc::not_found);
    CHECK(error_of(await(s.process.rule_rpc.create(rule_request(other, webhook)))).code ==
          errc::not_found);

    // Its own webhook with the same id is a different one.
    auto same_id = webhook_request(other, "https://1.1.1.1/");
    same_id.set_webhook_id(webhook);
    CHECK(await(s.process.webhook_rpc.create(same_id)).value().webhook().url() ==
          "https://1.1.1.1/");
    CHECK(
        await(s.process.webhook_rpc.get(get_request(s.account, webhook))).value().webhook().url() ==
        s.hook.url());
    CHECK(error_of(await(s.process.rule_rpc.remove(delete_rule_request(other, rule)))).code ==
          errc::not_found);
    CHECK(s.count("webhooks.rules") == 1);
}

TEST_CASE("a secret is in no table in the clear", "[webhooks][rpc][postgres]")
{
    suite s;
    s.process.start();
    const auto created = s.create_webhook(s.hook.url());
    s.deliver({testing::email_record(testing::email(s.account))});
    REQUIRE(s.becomes("webhooks.deliveries", 1));
    const auto text = created.secret().substr(std::string("whsec_").size());
    const auto bytes = webhooks::read_signing_secret(secret{created.secret()}).value();

    std::string dump;
    for (const auto& table : s.scratch.execute(
             "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) FROM "
             "information_schema.tables WHERE table_schema = 'webhooks'"))
        for (const auto& row :
             s.scratch.execute("SELECT t::text FROM " + table[0].as<std::string>() + " t"))
            dump += row[0].as<std::string>() + "\n";

    REQUIRE(dump.find(created.webhook().webhook_id()) != std::string::npos);
    CHECK(dump.find(text) == std::string::npos);
    CHECK(dump.find(to_hex(bytes.reveal())) == std::string::npos);
    CHECK(dump.find(to_base64url(bytes.reveal())) == std::string::npos);
}
