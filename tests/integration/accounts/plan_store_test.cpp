#include "accounts/plan_store.hpp"

#include "accounts/account_store.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

plan_change requests_per_day(std::int64_t number)
{
    plan_change wanted;
    wanted.requests_per_day = number;
    return wanted;
}

} // namespace

TEST_CASE("the plans are those of the price list", "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    plan_store plans(scratch.db(), announcements("test", nullptr));

    const auto all = await(plans.list());

    REQUIRE(all.size() == 6);
    CHECK(all.front().name == "free");
    CHECK(all.back().name == "premium");
    CHECK(all.back().limits.requests_per_day == 10'000);
    CHECK(all.back().limits.webhooks == 5);
    CHECK(all.back().limits.api_keys == 5);
    CHECK(all.back().limits.routing_rules == 20);
}

TEST_CASE("a changed number is announced for every account of the plan, and for nobody else", "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    std::vector<outbox::row> published;
    const announcements how("test",
                            [&](std::vector<outbox::row> rows) { published.insert(published.end(), rows.begin(), rows.end()); });
    account_store accounts(scratch.db(), how);
    plan_store plans(scratch.db(), how);
    const auto ann = await(accounts.create(account_id::make(), "ann@example.com", "pro")).value();
    const auto bob = await(accounts.create(account_id::make(), "bob@example.com", "pro")).value();
    const auto eve = await(accounts.create(account_id::make(), "eve@example.com", "free")).value();
    published.clear();

    const auto changed = await(plans.set("pro", requests_per_day(5))).value();

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
    const announcements how("test",
                            [&](std::vector<outbox::row> rows) { published.insert(published.end(), rows.begin(), rows.end()); });
    account_store accounts(scratch.db(), how);
    plan_store plans(scratch.db(), how);
    const auto pass = await(accounts.create(account_id::make(), "ann@example.com", "pass7")).value();
    published.clear();
    plan_change wanted;
    wanted.live_inboxes = 3;

    REQUIRE(await(plans.set("free", wanted)));

    CHECK(published.size() == 1);
    CHECK(await(accounts.find(pass.id()))->state.limits_after_end.live_inboxes == 3);
}

TEST_CASE("unknown plans and contradicting numbers are refused and change nothing", "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    plan_store plans(scratch.db(), announcements("test", nullptr));
    plan_change wanted;
    wanted.max_ttl_seconds = 60;

    const auto unknown = await(plans.set("gold", requests_per_day(5)));
    const auto contradicting = await(plans.set("pro", wanted));

    CHECK(unknown.error().code == errc::not_found);
    CHECK(contradicting.error().code == errc::invalid_argument);
    CHECK(await(plans.list())[3].limits.max_ttl == std::chrono::hours(168));
    CHECK(scratch.execute("SELECT version FROM accounts.changes")[0][0].as<int>() == 0);
}
