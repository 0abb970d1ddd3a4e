// A change is in force for every mail accepted after the change was answered, whichever replica
// answered and whichever routes the mail.

#include "integration/webhook-dispatcher/requests.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace tempinbox;
using testing::await;
using testing::change_of;
using testing::rotation_of;
using testing::rule_change_of;
using testing::switch_of;

namespace {

namespace v1 = webhooks::v1;

// Two replicas on one database, both of which know the account; `s` takes the changes, the other
// one gets the mail.
struct replicas
{
    testing::suite s{testing::sends_nothing()};
    testing::dispatcher other{s.scratch.dsn(), testing::loopback_policy(),
                              testing::sends_nothing()};
    std::string first = s.create_webhook(s.hook.url("/first")).webhook().webhook_id();
    std::string second = s.create_webhook(s.hook.url("/second")).webhook().webhook_id();

    // Where a new mail goes, by the state of its deliveries: "due" or how they ended.
    std::map<std::string, std::string> routes(const std::string& subject = "Hello")
    {
        const auto mail = testing::email(s.account, subject);
        await(other.ingest.handle({testing::email_record(mail)}));
        std::map<std::string, std::string> found;
        for (const auto& row : s.scratch.execute(
                 "SELECT webhook_id, 'due' FROM webhooks.due_deliveries WHERE event_id = '" +
                 mail.email_id() +
                 "' UNION ALL SELECT webhook_id, state FROM "
                 "webhooks.deliveries WHERE event_id = '" +
                 mail.email_id() + "'"))
            found.emplace(row[0].as<std::string>(), row[1].as<std::string>());
        return found;
    }
    std::map<std::string, std::string> due(const std::vector<std::string>& webhooks)
    {
        std::map<std::string, std::string> expected;
        for (const auto& webhook : webhooks)
            expected.emplace(webhook, "due");
        return expected;
    }
    std::shared_ptr<const webhooks::receiver> known_to_other(const std::string& webhook)
    {
        const auto configs = await(other.configs.current({s.account}));
        return configs.at(s.account)->find(webhook_id::parse(webhook).value());
    }
    void change(const v1::UpdateWebhookRequest& request)
    {
        await(s.process.webhook_rpc.update(request)).value();
    }
    void change(const v1::UpdateRuleRequest& request)
    {
        await(s.process.rule_rpc.update(request)).value();
    }
};

} // namespace

TEST_CASE("a change of a webhook is in force for the next mail on every replica",
          "[webhooks][routing][replicas][postgres]")
{
    replicas r;
    REQUIRE(r.routes() == r.due({r.first, r.second}));

    r.change(switch_of(r.s.account, r.first, false));
    CHECK(r.routes() ==
          std::map<std::string, std::string>{{r.first, "skipped_disabled"}, {r.second, "due"}});

    r.change(switch_of(r.s.account, r.first, true));
    CHECK(r.routes() == r.due({r.first, r.second}));

    auto narrowed = change_of(r.s.account, r.first);
    narrowed.mutable_events()->add_events("inbox.created");
    r.change(narrowed);
    CHECK(r.routes() == r.due({r.second}));

    auto moved = change_of(r.s.account, r.second);
    moved.set_url(r.s.hook.url("/moved"));
    r.change(moved);
    CHECK(r.known_to_other(r.second)->url == r.s.hook.url("/moved"));

    await(r.s.process.webhook_rpc.rotate(rotation_of(r.s.account, r.second))).value();
    CHECK(r.known_to_other(r.second)->keys_at(system_clock_source{}.now()).size() == 2);

    await(r.s.process.endpoints.disable(r.s.account, webhook_id::parse(r.second).value(),
                                        "only failed"));
    CHECK(r.routes() == std::map<std::string, std::string>{{r.second, "skipped_disabled"}});

    const auto third = r.s.create_webhook(r.s.hook.url("/third")).webhook().webhook_id();
    CHECK(r.routes().contains(third));

    v1::DeleteWebhookRequest deleted;
    deleted.set_account_id(r.s.account.text());
    deleted.set_webhook_id(third);
    await(r.s.process.webhook_rpc.remove(deleted)).value();
    CHECK_FALSE(r.routes().contains(third));
}

TEST_CASE("a change of a rule is in force for the next mail on every replica",
          "[webhooks][routing][replicas][postgres]")
{
    replicas r;
    REQUIRE(r.routes() == r.due({r.first, r.second}));

    const auto rule = r.s.create_rule(r.first, "invoice");
    CHECK(r.routes("Invoice 7").size() == 1);
    CHECK(r.routes("Hello").empty());

    auto change = rule_change_of(r.s.account, rule);
    change.set_webhook_id(r.second);
    r.change(change);
    CHECK(r.routes("Invoice 7") == r.due({r.second}));

    change = rule_change_of(r.s.account, rule);
    change.mutable_conditions();
    r.change(change);
    CHECK(r.routes("Hello") == r.due({r.second}));

    change = rule_change_of(r.s.account, rule);
    change.set_is_enabled(false);
    r.change(change);
    CHECK(r.routes() == r.due({r.first, r.second}));

    change.set_is_enabled(true);
    r.change(change);
    CHECK(r.routes() == r.due({r.second}));

    v1::DeleteRuleRequest deleted;
    deleted.set_account_id(r.s.account.text());
    deleted.set_rule_id(rule);
    await(r.s.process.rule_rpc.remove(deleted)).value();
    CHECK(r.routes() == r.due({r.first, r.second}));
}

TEST_CASE("a smaller plan is in force for the next mail on every replica",
          "[webhooks][routing][replicas][postgres]")
{
    replicas r;
    REQUIRE(r.routes() == r.due({r.first, r.second}));
    plans::account_state shrunk;
    shrunk.account = r.s.account;
    shrunk.version = 7;
    shrunk.limits.webhooks = 1;

    r.s.deliver({testing::to_record(
        events::make_row(shrunk, event_id::make(), trace::traceparent::make()))});

    CHECK(r.routes() == r.due({r.first}));
}

TEST_CASE("configurations that others evict from the cache are still returned",
          "[webhooks][routing][postgres]")
{
    testing::suite s;
    std::vector<account_id> accounts;
    for (int i = 0; i < 8; ++i) {
        accounts.push_back(account_id::make());
        await(s.process.webhook_rpc.create(
                  testing::webhook_request(accounts.back(), "https://1.1.1.1/")))
            .value();
    }
    webhooks::config_cache small(s.process.rules, s.process.keys, testing::loopback_policy(), 2);
    int done = 0, incomplete = 0;
    constexpr int calls = 200;
    for (int i = 0; i < calls; ++i) {
        const std::vector<account_id> requested{accounts[static_cast<std::size_t>(i) % 8],
                                                accounts[static_cast<std::size_t>(i * 3 + 1) % 8]};
        const std::set<account_id> distinct(requested.begin(), requested.end());
        boost::asio::co_spawn(testing::test_host().executor(), small.current(requested),
                              [&, expected = distinct.size()](
                                  std::exception_ptr error, webhooks::config_cache::configs found) {
                                  incomplete += error || found.size() != expected ? 1 : 0;
                                  ++done;
                              });
    }

    REQUIRE(testing::eventually([&] { return done == calls; }, std::chrono::seconds(30)));
    CHECK(incomplete == 0);
    CHECK(small.size() <= 2);
}
