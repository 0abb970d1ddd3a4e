#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "rate-limit/quota_store.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::rate_limit;

namespace {

const account_id alice = account_id::make();
const account_id bob = account_id::make();

day today()
{
    return day_of(system_clock_source{}.now());
}

ask ask_for(account_id account, std::int64_t units, std::int64_t limit, std::int64_t version = 1, std::int64_t let_through = 0)
{
    ask wanted;
    wanted.account = account;
    wanted.units = units;
    wanted.limit = limit;
    wanted.limit_version = version;
    wanted.let_through = let_through;
    return wanted;
}

// Once more where midnight came between.
batch_outcome take(quota_store& store, const std::vector<ask>& asks)
{
    auto outcome = testing::await(store.take(today(), asks));
    return outcome.day_differs ? testing::await(store.take(today(), asks)) : outcome;
}

awaitable<void> take_some(quota_store& store, std::vector<ask> asks, std::int64_t& granted, std::set<std::int64_t>& remaining,
                          int& done)
{
    const auto outcome = co_await store.take(today(), std::move(asks));
    for (const auto& made : outcome.decisions) {
        granted += made.granted;
        if (made.granted > 0)
            remaining.insert(made.remaining);
    }
    ++done;
}

} // namespace

TEST_CASE("request number limit passes and the next does not", "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());
    take(store, {ask_for(alice, 2'999, 3'000)});

    const auto last = take(store, {ask_for(alice, 1, 3'000)});
    const auto over = take(store, {ask_for(alice, 1, 3'000)});

    CHECK(last.decisions[0].granted == 1);
    CHECK(last.decisions[0].remaining == 0);
    CHECK(over.decisions[0].granted == 0);
    CHECK(over.decisions[0].used == 3'000);
    CHECK(over.limits[0] == 3'000);
}

TEST_CASE("asks of one account in a batch are decided in their order", "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());

    const auto outcome =
        take(store, {ask_for(bob, 1, 5), ask_for(alice, 1, 2), ask_for(alice, 1, 2), ask_for(bob, 2, 5), ask_for(alice, 1, 2)});

    REQUIRE(outcome.decisions.size() == 5);
    CHECK(outcome.decisions[0].remaining == 4);
    CHECK(outcome.decisions[1].granted == 1);
    CHECK(outcome.decisions[2].granted == 1);
    CHECK(outcome.decisions[2].remaining == 0);
    CHECK(outcome.decisions[3].remaining == 2);
    CHECK(outcome.decisions[4].granted == 0);
}

TEST_CASE("concurrent batches grant the limit exactly, each unit once", "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());
    std::vector<account_id> accounts;
    for (int i = 0; i < 5; ++i)
        accounts.push_back(account_id::make());
    constexpr std::int64_t limit = 30;
    std::int64_t granted = 0;
    std::set<std::int64_t> remaining;
    int done = 0;

    // Each batch names the accounts in another order.
    for (int batch = 0; batch < 100; ++batch) {
        std::vector<ask> asks;
        for (std::size_t i = 0; i < accounts.size(); ++i)
            asks.push_back(ask_for(accounts[(i + static_cast<std::size_t>(batch)) % accounts.size()], 1, limit));
        boost::asio::co_spawn(testing::test_host().loop(), take_some(store, std::move(asks), granted, remaining, done),
                              boost::asio::detached);
    }
    REQUIRE(testing::eventually([&] { return done == 100; }));

    CHECK(granted == 5 * limit);
    CHECK(remaining.size() == limit);
    const auto rows = scratch.execute("SELECT DISTINCT used FROM quota.days");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0][0].as<std::int64_t>() == limit);
}

TEST_CASE("what was let through is counted, also past the limit", "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());

    const auto first = take(store, {ask_for(alice, 1, 10, 1, 4)});
    const auto second = take(store, {ask_for(alice, 1, 10, 1, 20)});

    CHECK(first.decisions[0].remaining == 5);
    CHECK(second.decisions[0].granted == 0);
    CHECK(second.decisions[0].remaining == 0);
    CHECK(second.decisions[0].used == 25);
}

TEST_CASE("the limit of the highest version holds, whichever came last", "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());
    take(store, {ask_for(alice, 8, 10, 5)});

    const auto raised = take(store, {ask_for(alice, 1, 100, 6)});
    const auto late = take(store, {ask_for(alice, 1, 10, 5)});
    const auto lowered = take(store, {ask_for(alice, 1, 4, 7)});

    CHECK(raised.decisions[0].remaining == 91);
    CHECK(late.decisions[0].granted == 1);
    CHECK(late.limits[0] == 100);
    CHECK(lowered.decisions[0].granted == 0);
    CHECK(lowered.decisions[0].remaining == 0);
    CHECK(lowered.limits[0] == 4);
}

TEST_CASE("a day's use does not count for the next day, and no unit is counted for another day than PostgreSQL's",
          "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());
    scratch.execute("INSERT INTO quota.days (account_id, day, used, daily_limit, limit_version) "
                    "SELECT '" +
                    alice.text() + "', (now() AT TIME ZONE 'UTC')::date - 1, 10, 10, 1");

    const auto fresh = take(store, {ask_for(alice, 1, 10)});
    const auto yesterday = testing::await(store.take(today() - std::chrono::days(2), {ask_for(bob, 1, 10)}));

    CHECK(fresh.decisions[0].granted == 1);
    CHECK(fresh.decisions[0].remaining == 9);
    CHECK(yesterday.day_differs);
    CHECK(yesterday.decisions.empty());
    CHECK(scratch.execute("SELECT 1 FROM quota.days WHERE account_id = '" + bob.text() + "'").empty());
}

TEST_CASE("old days are forgotten", "[rate-limit][postgres]")
{
    testing::scratch_database scratch({"quota"});
    quota_store store(scratch.db());
    scratch.execute("INSERT INTO quota.days (account_id, day, used, daily_limit, limit_version) "
                    "SELECT '" +
                    alice.text() + "', (now() AT TIME ZONE 'UTC')::date - n, 1, 10, 1 FROM generate_series(1, 40) n");

    CHECK(testing::await(store.forget_before(today() - std::chrono::days(35))) == 5);
    CHECK(testing::await(store.forget_before(today() - std::chrono::days(35))) == 0);
    CHECK(scratch.execute("SELECT count(*) FROM quota.days")[0][0].as<int>() == 35);
}
