#include "accounts/account_repository.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <set>
#include <sstream>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

plan_change requests_per_day(std::int64_t number)
{
    plan_change requested;
    requested.limits["requests_per_day"] = number;
    return requested;
}

// Everything about a plan, so that a plan that differs is shown as a whole.
std::string line(std::string_view name, std::string_view amount, std::string_view period,
                 bool has_api, std::int64_t requests, int burst, int inboxes,
                 std::chrono::seconds default_ttl, std::chrono::seconds max_ttl, std::int64_t bytes,
                 int webhooks, int keys, int rules, int captures, int catch_alls)
{
    std::ostringstream text;
    text << name << ' ' << amount << ' ' << period << (has_api ? " api " : " no-api ") << requests
         << "/d " << burst << "/s " << inboxes << " inboxes " << default_ttl.count() << '-'
         << max_ttl.count() << " s " << bytes << " bytes " << webhooks << " webhooks " << keys
         << " keys " << rules << " rules " << captures << " captures " << catch_alls
         << " catch-alls";
    return text.str();
}

std::string line_of(const plan& it)
{
    const auto& limits = it.limits;
    return line(it.name, it.cost.amount, it.cost.period, limits.api_access, limits.requests_per_day,
                limits.burst_per_second, limits.live_inboxes, limits.default_ttl, limits.max_ttl,
                limits.max_message_bytes, limits.webhooks, limits.api_keys, limits.routing_rules,
                limits.captures.value(), limits.catch_alls.value());
}

} // namespace

TEST_CASE("the plans are those of the price list", "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    account_repository accounts(scratch.db(), state_publisher("test", nullptr));
    using std::chrono::hours;
    constexpr std::int64_t mib = 1024 * 1024;
    // clang-format off
    const std::vector<std::string> expected = {
        // name, price, API, requests a day, burst, live inboxes, default and longest life, largest mail, webhooks, keys, rules, captures, catch-alls
        line("free",     "0",  "none",  false,      0,   0,     1, hours(1),  hours(1),        5 * mib, 0, 0, 0, 1, 0),
        line("starter",  "3",  "month", false,      0,   0,     5, hours(24), hours(24),      10 * mib, 0, 0, 0, 1, 0),
        line("pass7",    "2",  "once",  true,   3'000,  50,    50, hours(24), hours(7 * 24),  25 * mib, 1, 1, 0, 2, 1),
        line("pro",      "7",  "month", true,   3'000,  50,   100, hours(24), hours(7 * 24),  25 * mib, 1, 1, 0, 5, 1),
        line("business", "15", "month", true,  10'000, 100,   500, hours(24), hours(30 * 24), 25 * mib, 3, 1, 0, 20, 5),
        line("premium",  "29", "month", true,  10'000, 200, 2'000, hours(24), hours(30 * 24), 25 * mib, 5, 5, 20, 100, 20),
    };
    // clang-format on

    std::vector<std::string> found;
    for (const auto& one : await(accounts.list_plans()))
        found.push_back(line_of(one));

    CHECK(found == expected);
}

TEST_CASE("the columns of plans are their limits, and an account's state has all of them twice",
          "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    const auto columns_of = [&](const std::string& table, const std::string& condition) {
        std::set<std::string> names;
        for (const auto& row :
             scratch.execute("SELECT column_name FROM information_schema.columns WHERE "
                             "table_schema = 'accounts' AND table_name = '" +
                             table + "' AND " + condition))
            names.insert(row[0].as<std::string>());
        return names;
    };
    std::set<std::string> limits, of_free_plan;
    for (const auto& limit : plans::all_limits()) {
        limits.emplace(limit.name);
        of_free_plan.insert("free_" + std::string(limit.name));
    }

    CHECK(columns_of("plans",
                     "column_name NOT IN ('plan', 'position', 'price_amount', 'price_period')") ==
          limits);
    CHECK(columns_of("states", "column_name LIKE 'free\\_%'") == of_free_plan);
    CHECK(columns_of("states",
                     "column_name NOT LIKE 'free\\_%' AND column_name NOT IN ('account_id', "
                     "'email', 'plan', 'version', 'is_deleted', 'created_micros', "
                     "'plan_ends_micros')") == limits);
}

TEST_CASE("a price has up to two decimals, and shows none that it does not need",
          "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    account_repository accounts(scratch.db(), state_publisher("test", nullptr));
    plan_change requested;
    requested.price_amount = "4.90";

    const auto changed = await(accounts.change_plan("pro", requested)).value();

    CHECK(changed.cost.amount == "4.9");
    CHECK(changed.cost.period == "month");
    CHECK(await(accounts.list_plans())[3].cost.amount == "4.9");
    CHECK(changed.limits.requests_per_day == 3'000);
}

TEST_CASE("a changed number is published for every account of the plan, and for nobody else",
          "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    std::vector<outbox::row> published;
    const state_publisher publisher("test", [&](std::vector<outbox::row> rows) {
        published.insert(published.end(), rows.begin(), rows.end());
    });
    account_repository accounts(scratch.db(), publisher);
    const auto ann = await(accounts.create(account_id::make(), "ann@example.com", "pro")).value();
    const auto bob = await(accounts.create(account_id::make(), "bob@example.com", "pro")).value();
    const auto eve = await(accounts.create(account_id::make(), "eve@example.com", "free")).value();
    published.clear();

    const auto changed = await(accounts.change_plan("pro", requests_per_day(5))).value();

    CHECK(changed.limits.requests_per_day == 5);
    CHECK(changed.limits.live_inboxes == 100);
    CHECK(published.size() == 2);
    CHECK(await(accounts.find(ann.id()))->state.limits.requests_per_day == 5);
    CHECK(await(accounts.find(ann.id()))->state.version > bob.state.version);
    CHECK(await(accounts.find(eve.id()))->state.version == eve.state.version);
}

TEST_CASE("a change of the free plan concerns those whose plan ends, too", "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    std::vector<outbox::row> published;
    const state_publisher publisher("test", [&](std::vector<outbox::row> rows) {
        published.insert(published.end(), rows.begin(), rows.end());
    });
    account_repository accounts(scratch.db(), publisher);
    const auto pass =
        await(accounts.create(account_id::make(), "ann@example.com", "pass7")).value();
    published.clear();
    plan_change requested;
    requested.limits["live_inboxes"] = 3;

    REQUIRE(await(accounts.change_plan("free", requested)));

    CHECK(published.size() == 1);
    CHECK(await(accounts.find(pass.id()))->state.limits_after_end.live_inboxes == 3);
}

TEST_CASE("unknown plans and contradicting numbers are refused and change nothing",
          "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    account_repository accounts(scratch.db(), state_publisher("test", nullptr));
    plan_change requested;
    requested.limits["max_ttl_seconds"] = 60;

    const auto unknown = await(accounts.change_plan("gold", requests_per_day(5)));
    const auto contradicting = await(accounts.change_plan("pro", requested));

    CHECK(unknown.error().code == errc::not_found);
    CHECK(contradicting.error().code == errc::invalid_argument);
    CHECK(await(accounts.list_plans())[3].limits.max_ttl == std::chrono::hours(168));
    CHECK(scratch.execute("SELECT version FROM accounts.changes")[0][0].as<int>() == 0);
}
