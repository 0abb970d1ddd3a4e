#include "webhook-dispatcher/routing/account_config.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using namespace std::chrono_literals;

namespace {

const time_point now = *parse_iso8601("2026-03-01T12:00:00Z");
const rules::rule_input invoice("billing@shop.example", {"box@example.org"}, "Your invoice");
const rules::rule_input greeting("friend@example.com", {"box@example.org"}, "Hello");

receiver make_receiver(event_set events = event_set::all(), bool is_enabled = true)
{
    receiver made;
    made.id = webhook_id::make();
    made.url = "https://example.com/";
    made.events = events;
    made.is_enabled = is_enabled;
    made.key = secret{"key"};
    return made;
}

rules::rule make_rule(webhook_id webhook, std::vector<rules::condition> conditions = {},
                      bool is_enabled = true)
{
    rules::rule made;
    made.id = rule_id::make();
    made.webhook = webhook;
    made.conditions = std::move(conditions);
    made.is_enabled = is_enabled;
    return made;
}

rules::rule invoice_rule(webhook_id webhook)
{
    return make_rule(webhook, {{rules::field::subject, rules::comparison::contains, "INVOICE"}});
}

plans::account_state plan(int webhooks, int rule_number)
{
    plans::account_state state;
    state.limits.webhooks = webhooks;
    state.limits.routing_rules = rule_number;
    return state;
}

event_set only(event_kind kind)
{
    event_set set;
    set.add(kind);
    return set;
}

std::vector<webhook_id> targets(const std::vector<route>& routes)
{
    std::vector<webhook_id> ids;
    for (const auto& entry : routes)
        ids.push_back(entry.to->id);
    return ids;
}

} // namespace

TEST_CASE("without rules every endpoint gets the events it subscribed to", "[webhooks][routing]")
{
    const auto all = make_receiver(), mail_only = make_receiver(only(event_kind::email_received));
    const account_config config(1, plan(5, 20), {all, mail_only}, {});

    CHECK(targets(config.choose_routes(event_kind::email_received, &invoice, now)) ==
          std::vector{all.id, mail_only.id});
    CHECK(targets(config.choose_routes(event_kind::inbox_created, nullptr, now)) ==
          std::vector{all.id});
    CHECK(targets(config.choose_routes(event_kind::inbox_expired, nullptr, now)) ==
          std::vector{all.id});
}

TEST_CASE("with an enabled rule, mail goes to the webhooks of matching rules only, whatever they "
          "subscribed to",
          "[webhooks][routing]")
{
    const auto ruled = make_receiver(only(event_kind::inbox_created)), subscribed = make_receiver();
    const auto rule = invoice_rule(ruled.id);
    const account_config config(1, plan(5, 20), {ruled, subscribed}, {rule});

    const auto routes = config.choose_routes(event_kind::email_received, &invoice, now);

    CHECK(targets(routes) == std::vector{ruled.id});
    CHECK(routes.front().rules == std::vector{rule.id});
    CHECK(config.choose_routes(event_kind::email_received, &greeting, now).empty());
}

TEST_CASE("rules do not touch inbox events", "[webhooks][routing]")
{
    const auto first = make_receiver(), second = make_receiver();
    const account_config config(1, plan(5, 20), {first, second}, {invoice_rule(first.id)});

    CHECK(targets(config.choose_routes(event_kind::inbox_created, nullptr, now)) ==
          std::vector{first.id, second.id});
}

TEST_CASE("disabled rules alone leave subscriptions in force", "[webhooks][routing]")
{
    const auto endpoint = make_receiver();
    const account_config config(1, plan(5, 20), {endpoint}, {make_rule(endpoint.id, {}, false)});

    const auto routes = config.choose_routes(event_kind::email_received, &invoice, now);

    CHECK(targets(routes) == std::vector{endpoint.id});
    CHECK(routes.front().rules.empty());
}

TEST_CASE("a plan without rules ignores those that are stored", "[webhooks][routing]")
{
    const auto first = make_receiver(), second = make_receiver();
    const account_config config(1, plan(5, 0), {first, second}, {invoice_rule(first.id)});

    CHECK(targets(config.choose_routes(event_kind::email_received, &greeting, now)) ==
          std::vector{first.id, second.id});
}

TEST_CASE("several rules to one webhook make one delivery that names them all",
          "[webhooks][routing]")
{
    const auto endpoint = make_receiver();
    const auto one = invoice_rule(endpoint.id), other = make_rule(endpoint.id),
               third = make_rule(webhook_id::make());
    const account_config config(1, plan(5, 20), {endpoint}, {one, other, third});

    const auto routes = config.choose_routes(event_kind::email_received, &invoice, now);

    REQUIRE(routes.size() == 1);
    CHECK(routes.front().rules == std::vector{one.id, other.id});
}

TEST_CASE("a catch-all matches beside other matches", "[webhooks][routing]")
{
    const auto specific = make_receiver(), everything = make_receiver();
    const account_config config(1, plan(5, 20), {specific, everything},
                                {invoice_rule(specific.id), make_rule(everything.id)});

    CHECK(targets(config.choose_routes(event_kind::email_received, &invoice, now)) ==
          std::vector{specific.id, everything.id});
    CHECK(targets(config.choose_routes(event_kind::email_received, &greeting, now)) ==
          std::vector{everything.id});
}

TEST_CASE("what a switched off webhook would have got is skipped and nothing falls back",
          "[webhooks][routing]")
{
    const auto off = make_receiver(event_set::all(), false), on = make_receiver();
    const account_config by_rule(1, plan(5, 20), {off, on}, {invoice_rule(off.id)});
    const account_config by_subscription(1, plan(5, 20), {off, on}, {});

    const auto routes = by_rule.choose_routes(event_kind::email_received, &invoice, now);
    REQUIRE(targets(routes) == std::vector{off.id});
    CHECK(routes.front().is_skipped);

    const auto both = by_subscription.choose_routes(event_kind::email_received, &invoice, now);
    REQUIRE(both.size() == 2);
    CHECK(both[0].is_skipped);
    CHECK_FALSE(both[1].is_skipped);
}

TEST_CASE("when a plan shrinks the oldest endpoints and rules stay active", "[webhooks][routing]")
{
    const auto oldest = make_receiver(), newer = make_receiver();
    const account_config one_webhook(1, plan(1, 0), {oldest, newer}, {});
    const account_config one_rule(1, plan(5, 1), {oldest, newer},
                                  {invoice_rule(oldest.id), make_rule(newer.id)});

    CHECK(targets(one_webhook.choose_routes(event_kind::email_received, &invoice, now)) ==
          std::vector{oldest.id});
    CHECK(one_webhook.is_active(oldest.id, now));
    CHECK_FALSE(one_webhook.is_active(newer.id, now));
    CHECK(targets(one_rule.choose_routes(event_kind::email_received, &invoice, now)) ==
          std::vector{oldest.id});
}

TEST_CASE("an ended pass sends nothing from the moment it ends", "[webhooks][routing]")
{
    auto pass = plan(1, 0);
    pass.plan_ends_at = now;
    const auto endpoint = make_receiver();
    const account_config config(1, pass, {endpoint}, {});

    CHECK(config.choose_routes(event_kind::email_received, &invoice, now - 1ms).size() == 1);
    CHECK(config.choose_routes(event_kind::email_received, &invoice, now).empty());
    CHECK_FALSE(config.is_active(endpoint.id, now));
}

TEST_CASE("an unknown or deleted account gets nothing", "[webhooks][routing]")
{
    auto deleted = plan(5, 20);
    deleted.is_deleted = true;

    CHECK(account_config(1, std::nullopt, {make_receiver()}, {})
              .choose_routes(event_kind::inbox_created, nullptr, now)
              .empty());
    CHECK(account_config(1, deleted, {make_receiver()}, {})
              .choose_routes(event_kind::inbox_created, nullptr, now)
              .empty());
}

TEST_CASE("a rotated secret signs until its time is over", "[webhooks][routing]")
{
    auto endpoint = make_receiver();
    endpoint.previous_keys.push_back({secret{"old"}, now});
    endpoint.previous_keys.push_back({secret{"older"}, now - 2s});

    CHECK(endpoint.keys_at(now - 3s).size() == 3);
    CHECK(endpoint.keys_at(now - 1s).size() == 2);
    CHECK(endpoint.keys_at(now - 1s).front().reveal() == "key");
    CHECK(endpoint.keys_at(now - 1s).back().reveal() == "old");
    CHECK(endpoint.keys_at(now).size() == 1);
}
