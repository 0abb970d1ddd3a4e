#include "common/postgres/transact_each.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "integration/common/postgres/held_lock.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

using namespace tempinbox;

namespace {

constexpr int changes = 128;
// The whole, and two for each time that a part is halved.
constexpr int max_transactions = 1 + 2 * 7;

const std::vector<std::string> no_schemas;

struct counted_rows
{
    counted_rows()
    {
        scratch.execute("CREATE TABLE t (x int, n int NOT NULL DEFAULT 0 CHECK (n < 5))");
        scratch.execute("INSERT INTO t SELECT x FROM generate_series(0, " +
                        std::to_string(changes - 1) + ") AS x");
        postgres::settings chosen;
        chosen.dsn = scratch.dsn();
        db.emplace(testing::test_host(), chosen);
    }

    // Adds one to each of the rows, in one transaction if possible.
    std::vector<result<int>> count_all()
    {
        std::vector<int> rows(changes);
        std::iota(rows.begin(), rows.end(), 0);
        return testing::await(postgres::transact_each<int>(
            *db, std::move(rows), [this](pqxx::work& tx, const std::vector<int>& chosen) {
                ++transactions;
                std::vector<result<int>> counted;
                counted.reserve(chosen.size());
                for (const int x : chosen)
                    counted.emplace_back(
                        tx.exec_params1("UPDATE t SET n = n + 1 WHERE x = $1 RETURNING n", x)[0]
                            .as<int>());
                return counted;
            }));
    }
    int sum() { return scratch.execute("SELECT sum(n) FROM t")[0][0].as<int>(); }

    testing::scratch_database scratch{no_schemas};
    std::optional<postgres::pool> db;
    std::atomic<int> transactions = 0;
};

} // namespace

TEST_CASE("changes that come together are one transaction", "[postgres][together]")
{
    counted_rows rows;

    const auto counted = rows.count_all();

    CHECK(std::all_of(counted.begin(), counted.end(),
                      [](const auto& one) { return one.value() == 1; }));
    CHECK(rows.sum() == changes);
    CHECK(rows.transactions == 1);
}

TEST_CASE("a change that PostgreSQL refuses fails alone, after a few transactions",
          "[postgres][together]")
{
    counted_rows rows;
    rows.scratch.execute("UPDATE t SET n = 4 WHERE x = 77");

    const auto counted = rows.count_all();

    CHECK(counted[77].error().code == errc::internal);
    CHECK(std::count_if(counted.begin(), counted.end(),
                        [](const auto& one) { return one.has_value(); }) == changes - 1);
    CHECK(rows.sum() == changes - 1 + 4);
    CHECK(rows.transactions <= max_transactions);
}

TEST_CASE("a change whose row somebody holds fails alone, after a few transactions",
          "[postgres][together]")
{
    counted_rows rows;
    const testing::held_lock held(rows.scratch.dsn(), "SELECT FROM t WHERE x = 5 FOR UPDATE");

    const auto counted = rows.count_all();

    CHECK(counted[5].error().code == errc::unavailable);
    CHECK(rows.sum() == changes - 1);
    CHECK(rows.transactions <= max_transactions + 1); // that one is tried once more
}
