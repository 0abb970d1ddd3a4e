#include "rate-limit/storage/quota_repository.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "unit/rate-limit/ledger_model.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace tempinbox;
using namespace tempinbox::rate_limit;
using namespace std::chrono_literals;
using tempinbox::testing::ledger_model;

namespace {

const account_id alice = account_id::make();

// Schema `quota` on a day that a test sets.
class arranged_quota
{
public:
    explicit arranged_quota(std::chrono::milliseconds lease_time = 30s)
        : scratch({"quota"}),
          repository(scratch.db(), "127.0.0.1:1", lease_time)
    {
        set_today(day_of(*parse_iso8601("2026-11-21T12:00:00Z")));
    }

    void set_today(day date)
    {
        today = date;
        scratch.execute("CREATE OR REPLACE FUNCTION quota.today() RETURNS date LANGUAGE sql "
                        "VOLATILE AS $$ SELECT date '" +
                        date_text(date) + "' $$");
    }

    block_sync_result sync(block& units, block_sync action)
    {
        const auto reported = units.report(action);
        std::vector<block_sync_request> requests{reported};
        const auto results = testing::await(repository.sync(std::move(requests)));
        REQUIRE(results.size() == 1);
        units.apply(reported, results.front());
        return results.front();
    }

    block make_block(std::int64_t limit, account_id account = alice)
    {
        return block(account, today, uuid::make_v7(), versioned_limit(limit, 1));
    }

    // A block of that many days ago, with one unit spent.
    void store_block(int age, block_sync action)
    {
        auto reported =
            block(alice, today - std::chrono::days(age), uuid::make_v7(), versioned_limit(10, 1))
                .report(action);
        reported.spent = 1;
        std::vector<block_sync_request> requests{std::move(reported)};
        testing::await(repository.sync(std::move(requests)));
    }

    std::int64_t number(const std::string& sql)
    {
        return scratch.execute(sql)[0][0].as<std::int64_t>();
    }

    testing::scratch_database scratch;
    quota_repository repository;
    day today{};
};

bool is_same(const block_sync_result& a, const block_sync_result& b)
{
    return a.outcome == b.outcome && a.granted == b.granted && a.used == b.used &&
           a.held_by_others == b.held_by_others && a.limit == b.limit && a.holders == b.holders;
}

} // namespace

TEST_CASE("a block is granted, spent, and the day never passes its limit", "[rate-limit][postgres]")
{
    arranged_quota quota;
    auto units = quota.make_block(3'000);
    std::int64_t spent = 0;

    for (bool is_granted = true; is_granted;) {
        quota.sync(units, block_sync::grow);
        const auto got = units.spend(3'000);
        spent += got;
        is_granted = got > 0;
    }
    quota.sync(units, block_sync::close);

    CHECK(spent == 3'000);
    CHECK(quota.number("SELECT used FROM quota.days") == 3'000);
    CHECK(quota.number("SELECT outstanding FROM quota.days") == 0);
    CHECK(quota.number("SELECT count(*) FROM quota.blocks") == 0);
}

TEST_CASE("the SQL does what its model does", "[rate-limit][postgres]")
{
    arranged_quota quota;
    ledger_model model(quota.today);
    std::mt19937 random(4711);
    const auto roll = [&random](int sides) {
        return std::uniform_int_distribution<int>(0, sides - 1)(random);
    };
    const std::vector<account_id> accounts{account_id::make(), account_id::make()};
    std::vector<block> blocks;
    std::int64_t version = 1, limit = 500;
    for (int i = 0; i < 6; ++i)
        blocks.emplace_back(accounts[static_cast<std::size_t>(i % 2)], quota.today, uuid::make_v7(),
                            versioned_limit(limit, 1));

    for (int step = 0; step < 1'500; ++step) {
        auto& units = blocks[static_cast<std::size_t>(roll(6))];
        units.spend(roll(8));
        if (roll(40) == 0) {
            limit = roll(5) == 0 ? 0 : roll(1'000) + 1;
            units.update_limit(versioned_limit(limit, ++version));
        }
        const auto action = roll(10) == 0  ? block_sync::close
                            : roll(4) == 0 ? block_sync::report
                                           : block_sync::grow;
        const auto reported = units.report(action);
        const auto expected = model.sync(reported, "127.0.0.1:1");
        const auto result = quota.sync(units, action);
        CAPTURE(step);
        REQUIRE(is_same(result, expected));
        if (action == block_sync::close)
            units = block(units.account(), quota.today, uuid::make_v7(), units.newest_limit());
        if (roll(100) == 0) {
            quota.scratch.execute("UPDATE quota.blocks SET lease_until = now() - interval '1 s' "
                                  "WHERE lease_until IS NOT NULL");
            testing::await(quota.repository.write_off());
            model.write_off_all();
        }
        if (roll(300) == 0)
            quota.set_today(model.today = quota.today + std::chrono::days(roll(2)));
    }
    for (const auto& [at, row] : model.days)
        CHECK(quota.number("SELECT used FROM quota.days WHERE account_id = '" + at.first.text() +
                           "' AND day = '" + date_text(at.second) + "'") == row.used);
}

TEST_CASE("many accounts are synced in one statement, in their order", "[rate-limit][postgres]")
{
    arranged_quota quota;
    std::vector<account_id> accounts;
    for (int i = 0; i < 200; ++i)
        accounts.push_back(account_id::make());
    std::sort(accounts.begin(), accounts.end());
    std::vector<block_sync_request> requests;
    for (std::size_t i = 0; i < accounts.size(); ++i)
        requests.push_back(quota.make_block(static_cast<std::int64_t>(50 * (i + 1)), accounts[i])
                               .report(block_sync::grow));

    const auto results = testing::await(quota.repository.sync(std::move(requests)));

    REQUIRE(results.size() == 200);
    CHECK(results.front().granted == 1);
    CHECK(results.back().granted == 200);
    CHECK(results.back().limit.units == 10'000);
}

TEST_CASE("a lost block counts as used once its TTL has ended, and not before",
          "[rate-limit][postgres]")
{
    arranged_quota quota;
    auto lost = quota.make_block(3'000);
    quota.sync(lost, block_sync::grow);
    lost.spend(10);

    const auto early = testing::await(quota.repository.write_off());
    quota.scratch.execute("UPDATE quota.blocks SET lease_until = now() - interval '1 s'");
    const auto late = testing::await(quota.repository.write_off());
    const auto again = testing::await(quota.repository.write_off());

    CHECK(early.blocks == 0);
    CHECK(late.blocks == 1);
    CHECK(late.units == 60);
    CHECK(again.blocks == 0);
    CHECK(quota.number("SELECT used FROM quota.days") == 60);
    CHECK(quota.number("SELECT outstanding FROM quota.days") == 0);
}

TEST_CASE("units are granted on PostgreSQL's day only, and reported on any",
          "[rate-limit][postgres]")
{
    arranged_quota quota;
    auto units = quota.make_block(100);
    quota.sync(units, block_sync::grow);
    units.spend(1);

    quota.set_today(quota.today + std::chrono::days(1));
    const auto late = quota.sync(units, block_sync::grow);
    quota.sync(units, block_sync::close);
    block early(alice, quota.today + std::chrono::days(1), uuid::make_v7(),
                versioned_limit(100, 1));
    const auto ahead = quota.sync(early, block_sync::grow);

    CHECK(late.outcome == block_outcome::other_day);
    CHECK(late.used == 1);
    CHECK(ahead.outcome == block_outcome::other_day);
    CHECK(quota.number("SELECT count(*) FROM quota.days") == 1);
    CHECK(quota.number("SELECT used FROM quota.days") == 1);
}

TEST_CASE("old days and blocks are purged", "[rate-limit][postgres]")
{
    arranged_quota quota;
    for (int age = 1; age <= 40; ++age)
        quota.store_block(age, block_sync::close);
    for (int age = 0; age <= 5; ++age)
        quota.store_block(age, block_sync::report);
    const auto oldest = quota.today - std::chrono::days(35);

    CHECK(testing::await(quota.repository.purge_before(oldest, quota.today)) == 5 + 4);
    CHECK(testing::await(quota.repository.purge_before(oldest, quota.today)) == 0);
    CHECK(quota.number("SELECT count(*) FROM quota.days") == 36);
    CHECK(quota.number("SELECT count(*) FROM quota.blocks") == 2);
}

TEST_CASE("the days of an account are listed oldest first", "[rate-limit][postgres]")
{
    arranged_quota quota;
    for (int age = 0; age <= 4; ++age)
        testing::await(quota.repository.store_usage(
            {unreported_usage(uuid::make_v7(), alice, quota.today - std::chrono::days(age), age + 1,
                              versioned_limit(10, 1))}));

    const auto uses =
        testing::await(quota.repository.list_days(alice, quota.today - std::chrono::days(2)));

    REQUIRE(uses.size() == 3);
    CHECK(uses[0].on_day == quota.today - std::chrono::days(2));
    CHECK(uses[0].requests == 3);
    CHECK(uses[2].on_day == quota.today);
}

TEST_CASE("usage reported twice counts once, whatever the limit says", "[rate-limit][postgres]")
{
    arranged_quota quota;
    const auto bob = account_id::make();
    const unreported_usage hers(uuid::make_v7(), alice, quota.today, 7, versioned_limit(5, 1)),
        his(uuid::make_v7(), bob, quota.today, 2, versioned_limit(3'000, 1)),
        more(uuid::make_v7(), alice, quota.today, 1, versioned_limit(5, 1));

    for (const auto& reported :
         {std::vector{hers}, std::vector{hers, more}, std::vector{his}, std::vector{hers, more}})
        testing::await(quota.repository.store_usage(reported));

    CHECK(quota.number("SELECT used FROM quota.days WHERE account_id = '" + alice.text() + "'") ==
          8);
    CHECK(quota.number("SELECT used FROM quota.days WHERE account_id = '" + bob.text() + "'") == 2);
    CHECK(quota.number("SELECT daily_limit FROM quota.days WHERE account_id = '" + alice.text() +
                       "'") == 5);
}

TEST_CASE("a sync returns usage that was stored beside the block", "[rate-limit][postgres]")
{
    arranged_quota quota;
    auto units = quota.make_block(100);
    quota.sync(units, block_sync::grow);
    CHECK(units.spend(1) == 1);

    testing::await(quota.repository.store_usage(
        {unreported_usage(uuid::make_v7(), alice, quota.today, 60, versioned_limit(100, 1))}));
    quota.sync(units, block_sync::report);

    CHECK(units.take_remaining() == 39);
}

TEST_CASE("reported usage counts for its own day, whenever it is stored", "[rate-limit][postgres]")
{
    arranged_quota quota;
    const auto yesterday = quota.today - std::chrono::days(1);
    const std::vector<unreported_usage> usages{
        unreported_usage(uuid::make_v7(), alice, yesterday, 7, versioned_limit(5, 1)),
        unreported_usage(uuid::make_v7(), alice, quota.today, 2, versioned_limit(5, 1))};

    testing::await(quota.repository.store_usage(usages));
    testing::await(quota.repository.store_usage(usages));
    const auto uses = testing::await(quota.repository.list_days(alice, yesterday));

    REQUIRE(uses.size() == 2);
    CHECK(uses[0].requests == 7);
    CHECK(uses[1].on_day == quota.today);
    CHECK(uses[1].requests == 2);
}

TEST_CASE("old usage ids are purged", "[rate-limit][postgres]")
{
    arranged_quota quota;
    const auto stored_on = [&](day date) {
        testing::await(quota.repository.store_usage(
            {unreported_usage(uuid::make_v7(), alice, date, 1, versioned_limit(5, 1))}));
    };
    for (int age = 0; age <= 3; ++age)
        stored_on(quota.today - std::chrono::days(age));

    CHECK(testing::await(quota.repository.purge_before(quota.today - std::chrono::days(30),
                                                       quota.today)) == 1);
    CHECK(quota.number("SELECT count(*) FROM quota.debts") == 3);
}
