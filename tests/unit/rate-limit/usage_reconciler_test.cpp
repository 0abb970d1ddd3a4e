#include "rate-limit/usage_reconciler.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::rate_limit;

namespace {

// A database in the process that stores usage, or fails.
struct arranged_usage
{
    bool is_away = false;
    std::vector<std::vector<unreported_usage>> statements;
    std::vector<account_id> refreshed;
    usage_reconciler reconciler{
        testing::test_host(),
        [this](std::vector<unreported_usage> usages) { return store(std::move(usages)); },
        [this](account_id account) { refreshed.push_back(account); }};

    awaitable<void> store(std::vector<unreported_usage> usages)
    {
        statements.push_back(std::move(usages));
        if (is_away)
            throw dependency_error("PostgreSQL is away");
        co_return;
    }

    bool has_run(std::size_t count)
    {
        return testing::eventually(
            [&] { return statements.size() == count && testing::test_host().loop().poll() == 0; });
    }
};

const day today = day_of(*parse_iso8601("2026-11-21T12:00:00Z"));

unreported_usage make_usage(std::int64_t units, account_id account = account_id::make(),
                            day on_day = today)
{
    return unreported_usage(uuid::make_v7(), account, on_day, units, versioned_limit(3'000, 1));
}

} // namespace

TEST_CASE("usage is confirmed when the database has it, and not before", "[rate-limit]")
{
    arranged_usage arranged;
    const auto usage = make_usage(5);

    CHECK_FALSE(arranged.reconciler.take(usage));
    CHECK_FALSE(arranged.reconciler.take(usage));
    REQUIRE(arranged.has_run(1));

    CHECK(arranged.reconciler.take(usage));
    REQUIRE(arranged.statements[0].size() == 1);
    CHECK(arranged.statements[0][0].units == 5);
    CHECK(arranged.refreshed == std::vector<account_id>{usage.account});
}

TEST_CASE("usage whose statement failed is stored when it is reported again", "[rate-limit]")
{
    arranged_usage arranged;
    arranged.is_away = true;
    const auto usage = make_usage(5);
    CHECK_FALSE(arranged.reconciler.take(usage));
    REQUIRE(arranged.has_run(1));
    CHECK(arranged.refreshed.empty());

    arranged.is_away = false;
    CHECK_FALSE(arranged.reconciler.take(usage));
    REQUIRE(arranged.has_run(2));

    CHECK(arranged.reconciler.take(usage));
}

TEST_CASE("usage that comes meanwhile shares a statement, sorted by account and day",
          "[rate-limit]")
{
    arranged_usage arranged;
    const auto first = account_id::make(), second = account_id::make();
    const auto yesterday = today - std::chrono::days(1);
    for (const auto& usage :
         {make_usage(1, second), make_usage(2, first), make_usage(3, second, yesterday)})
        arranged.reconciler.take(usage);
    REQUIRE(arranged.has_run(1));

    REQUIRE(arranged.statements[0].size() == 3);
    CHECK(arranged.statements[0][1].on_day == yesterday);
    CHECK(arranged.statements[0][0].account == first);
    CHECK(arranged.statements[0][1].account == second);
    CHECK(arranged.statements[0][2].account == second);
}
