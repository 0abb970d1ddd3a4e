#include "common/postgres/migrations.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "migrations/migrations.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> no_schemas;

postgres::migration make_migration(int version, std::string sql)
{
    postgres::migration made;
    made.version = version;
    made.name = "step";
    made.sql = std::move(sql);
    return made;
}

} // namespace

TEST_CASE("migrations are applied once, in order", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    const auto second =
        make_migration(2, "ALTER TABLE shop.t ADD y int; INSERT INTO shop.t VALUES (1, 2)");

    CHECK(postgres::migrate(scratch.dsn(), "shop", {first}).value() == std::vector<int>{1});
    CHECK(postgres::migrate(scratch.dsn(), "shop", {first, second}).value() == std::vector<int>{2});
    CHECK(postgres::migrate(scratch.dsn(), "shop", {first, second}).value().empty());

    CHECK(scratch.execute("SELECT count(*) FROM shop.t")[0][0].as<int>() == 1);
    CHECK(
        scratch
            .execute("SELECT count(*) FROM public.tempinbox_migrations WHERE schema = 'shop'")[0][0]
            .as<int>() == 2);
}

TEST_CASE("a migration that fails leaves nothing of itself and says which it was", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    const auto broken = make_migration(2, "CREATE TABLE shop.u (x int); SELECT nonsense");

    const auto outcome = postgres::migrate(scratch.dsn(), "shop", {first, broken});

    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("migration 2 (step) of schema shop failed") == 0);
    CHECK(
        scratch
            .execute(
                "SELECT to_regclass('shop.u') IS NULL AND to_regclass('shop.t') IS NOT NULL")[0][0]
            .as<bool>());
    CHECK(
        scratch
            .execute(
                "SELECT max(version) FROM public.tempinbox_migrations WHERE schema = 'shop'")[0][0]
            .as<int>() == 1);
}

TEST_CASE("a migration altered after it was applied is refused", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    REQUIRE(postgres::migrate(scratch.dsn(), "shop",
                              {make_migration(1, "CREATE TABLE shop.t (x int)")}));

    const auto outcome = postgres::migrate(scratch.dsn(), "shop",
                                           {make_migration(1, "CREATE TABLE shop.t (x bigint)")});

    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message ==
          "migration 1 (step) of schema shop was altered after it had been applied");
}

TEST_CASE("a database newer than the program is left alone", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    REQUIRE(postgres::migrate(scratch.dsn(), "shop",
                              {first, make_migration(2, "CREATE TABLE shop.u (x int)")}));

    CHECK(postgres::migrate(scratch.dsn(), "shop", {first}).value().empty());
}

TEST_CASE("four migrators at once apply each migration once", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    std::vector<result<std::vector<int>>> outcomes(4, failure{errc::internal, "did not run"});
    std::size_t applied = 0;

    {
        std::vector<std::thread> migrators;
        for (auto& outcome : outcomes)
            migrators.emplace_back([&outcome, &scratch] {
                for (const auto schema : migrations::schemas()) {
                    outcome = postgres::migrate(scratch.dsn(), std::string(schema),
                                                migrations::of_schema(schema));
                    if (!outcome)
                        return;
                }
            });
        for (auto& one : migrators)
            one.join();
    }

    for (const auto& outcome : outcomes) {
        INFO((outcome ? std::string() : outcome.error().message));
        CHECK(outcome);
    }
    for (const auto schema : migrations::schemas())
        applied += migrations::of_schema(schema).size();
    CHECK(scratch.execute("SELECT count(*) FROM public.tempinbox_migrations")[0][0]
              .as<std::size_t>() == applied);
}

TEST_CASE("a migration waits for a lock in short turns, so that others pass", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    const auto second = make_migration(2, "ALTER TABLE shop.t ADD y int");
    REQUIRE(postgres::migrate(scratch.dsn(), "shop", {first}));
    postgres::lock_retries retries;
    CHECK(retries.timeout == 2s);
    retries.timeout = 50ms;
    retries.delay = 20ms;

    // Reads the table as a dump does.
    pqxx::connection dump(scratch.dsn());
    pqxx::work reading(dump);
    reading.exec("LOCK TABLE shop.t IN ACCESS SHARE MODE");

    SECTION("to its end, which comes in time")
    {
        retries.tries = 100'000;
        result<std::vector<int>> outcome = failure{errc::internal, "did not run"};
        std::thread migrator(
            [&] { outcome = postgres::migrate(scratch.dsn(), "shop", {first, second}, retries); });
        CHECK(testing::eventually([&] {
            return scratch
                       .execute("SELECT count(*) FROM pg_stat_activity WHERE datname = "
                                "current_database() AND "
                                "application_name = 'tempinbox-migrate' AND "
                                "wait_event_type = 'Lock'")[0][0]
                       .as<int>() == 1;
        }));
        // Each of these would wait behind a migration that never gives up.
        for (int i = 0; i < 20; ++i)
            CHECK_NOTHROW(
                scratch.execute("SET statement_timeout = '5s'; SELECT count(*) FROM shop.t"));
        reading.abort();
        migrator.join();
        REQUIRE(outcome);
        CHECK(*outcome == std::vector<int>{2});
    }
    SECTION("or until it has tried often enough")
    {
        retries.tries = 2;
        const auto outcome = postgres::migrate(scratch.dsn(), "shop", {first, second}, retries);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().message.find("lock timeout") != std::string::npos);
    }
}

TEST_CASE("a file may run outside a transaction, also where several migrate at once", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const std::vector<postgres::migration> all{
        make_migration(1, "CREATE TABLE shop.t (x int, y int)"),
        make_migration(2, "-- outside a transaction\n"
                          "DROP INDEX CONCURRENTLY IF EXISTS shop.t_x;\n"
                          "CREATE INDEX CONCURRENTLY t_x ON shop.t (x);\n"
                          "CREATE INDEX CONCURRENTLY IF NOT EXISTS t_y ON shop.t (y);\n")};
    REQUIRE(postgres::migrate(scratch.dsn(), "shop", {all[0]}));
    std::vector<result<std::vector<int>>> outcomes(4, failure{errc::internal, "did not run"});

    {
        // The first migrator waits for this transaction to end; the others wait for the first.
        pqxx::connection other(scratch.dsn());
        pqxx::work writing(other);
        writing.exec("INSERT INTO shop.t VALUES (1, 1)");
        std::vector<std::thread> migrators;
        for (auto& outcome : outcomes)
            migrators.emplace_back([&outcome, &scratch, &all] {
                outcome = postgres::migrate(scratch.dsn(), "shop", all);
            });
        const bool are_all_there = testing::eventually([&] {
            return scratch
                       .execute("SELECT count(*) FROM pg_stat_activity WHERE datname = "
                                "current_database() AND "
                                "application_name = 'tempinbox-migrate'")[0][0]
                       .as<int>() == 4;
        });
        writing.commit();
        for (auto& one : migrators)
            one.join();
        CHECK(are_all_there);
    }

    for (const auto& outcome : outcomes) {
        INFO((outcome ? std::string() : outcome.error().message));
        CHECK(outcome);
    }
    CHECK(scratch
              .execute("SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
                       "WHERE c.relname IN ('t_x', 't_y') "
                       "AND i.indisvalid")[0][0]
              .as<int>() == 2);
    CHECK(
        scratch
            .execute(
                "SELECT max(version) FROM public.tempinbox_migrations WHERE schema = 'shop'")[0][0]
            .as<int>() == 2);
}

TEST_CASE("a database that cannot be reached is a failure", "[postgres]")
{
    const auto outcome = postgres::migrate("host=127.0.0.1 port=1", "shop", {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::unavailable);
}
