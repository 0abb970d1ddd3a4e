#include "common/postgres/migrations.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "migrations/schemas.hpp"

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

postgres::schema_files shop(std::vector<postgres::migration> migrations,
                            std::vector<postgres::function_file> functions = {})
{
    return {"shop", std::move(migrations), std::move(functions)};
}

postgres::function_file price(int amount)
{
    return {"price", "CREATE OR REPLACE FUNCTION shop.price() RETURNS integer LANGUAGE sql AS "
                     "$$ SELECT " +
                         std::to_string(amount) + " $$"};
}

const postgres::migration shop_table = make_migration(1, "CREATE TABLE shop.t (x int)");

} // namespace

TEST_CASE("migrations are applied once, in order", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    const auto second =
        make_migration(2, "ALTER TABLE shop.t ADD y int; INSERT INTO shop.t VALUES (1, 2)");

    CHECK(postgres::migrate(scratch.dsn(), shop({first})).value().versions == std::vector<int>{1});
    CHECK(postgres::migrate(scratch.dsn(), shop({first, second})).value().versions ==
          std::vector<int>{2});
    CHECK(postgres::migrate(scratch.dsn(), shop({first, second})).value().empty());

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

    const auto outcome = postgres::migrate(scratch.dsn(), shop({first, broken}));

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
    REQUIRE(postgres::migrate(
        scratch.dsn(), shop({shop_table, make_migration(2, "ALTER TABLE shop.t ADD y int")})));

    const auto outcome = postgres::migrate(
        scratch.dsn(), shop({shop_table, make_migration(2, "ALTER TABLE shop.t ADD y bigint")}));

    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message ==
          "migration 2 (step) of schema shop was altered after it had been applied");
}

TEST_CASE("a database made before the baseline is refused and left as it is", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    REQUIRE(postgres::migrate(
        scratch.dsn(), shop({shop_table, make_migration(2, "ALTER TABLE shop.t ADD y int")})));
    scratch.execute("DROP TABLE public.tempinbox_functions");
    const auto baseline = shop({make_migration(1, "CREATE TABLE shop.t (x int, y int)"),
                                make_migration(2, "CREATE TABLE shop.u (x int)"),
                                make_migration(3, "CREATE TABLE shop.v (x int)")},
                               {price(1)});

    const auto checked = postgres::check_history(scratch.dsn(), std::vector{baseline});
    const auto outcome = postgres::migrate(scratch.dsn(), baseline);

    REQUIRE_FALSE(checked);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::conflict);
    CHECK(outcome.error().message.find("schema shop of this database was made before") == 0);
    CHECK(outcome.error().message.find("./dev down --wipe") != std::string::npos);
    CHECK(checked.error().message == outcome.error().message);
    CHECK(scratch
              .execute("SELECT to_regclass('public.tempinbox_functions') IS NULL AND "
                       "to_regclass('shop.u') IS NULL AND to_regclass('shop.v') IS NULL AND "
                       "to_regproc('shop.price') IS NULL")[0][0]
              .as<bool>());
    CHECK(scratch.execute("SELECT count(*) FROM public.tempinbox_migrations")[0][0].as<int>() == 2);
}

TEST_CASE("a new database and one that is up to date have a good history", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const std::vector schemas{shop({shop_table}, {price(1)})};

    CHECK(postgres::check_history(scratch.dsn(), schemas));
    CHECK(scratch.execute("SELECT to_regclass('public.tempinbox_migrations') IS NULL")[0][0]
              .as<bool>());
    REQUIRE(postgres::migrate(scratch.dsn(), schemas[0]));
    CHECK(postgres::check_history(scratch.dsn(), schemas));
}

TEST_CASE("functions are applied, and again whenever their text changes", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const postgres::function_file other{
        "other", "CREATE OR REPLACE FUNCTION shop.other() RETURNS void LANGUAGE sql AS ''"};
    const auto call = [&] { return scratch.execute("SELECT shop.price()")[0][0].as<int>(); };
    const auto row_of_other = [&] {
        return scratch.execute("SELECT xmin FROM pg_proc WHERE oid = 'shop.other'::regproc")[0][0]
            .as<std::string>();
    };

    const auto first =
        postgres::migrate(scratch.dsn(), shop({shop_table}, {other, price(1)})).value();
    CHECK(first.versions == std::vector<int>{1});
    CHECK(first.functions == std::vector<std::string>{"other", "price"});
    CHECK(call() == 1);
    const auto before = row_of_other();

    CHECK(postgres::migrate(scratch.dsn(), shop({shop_table}, {other, price(1)})).value().empty());

    const auto changed =
        postgres::migrate(scratch.dsn(), shop({shop_table}, {other, price(2)})).value();
    CHECK(changed.versions.empty());
    CHECK(changed.functions == std::vector<std::string>{"price"});
    CHECK(call() == 2);
    CHECK(row_of_other() == before);
    CHECK(scratch.execute("SELECT count(*) FROM public.tempinbox_functions")[0][0].as<int>() == 2);
}

TEST_CASE("functions may call each other in any order", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const postgres::function_file caller{
        "a_caller", "CREATE OR REPLACE FUNCTION shop.a_caller() RETURNS integer LANGUAGE sql AS "
                    "'SELECT shop.price() + count(*)::integer FROM shop.t'"};

    REQUIRE(postgres::migrate(scratch.dsn(), shop({shop_table}, {caller, price(3)})));

    CHECK(scratch.execute("SELECT shop.a_caller()")[0][0].as<int>() == 3);
}

TEST_CASE("a function without a schema's name belongs to the schema it is applied for",
          "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const postgres::function_file shared{
        "shared", "CREATE OR REPLACE FUNCTION shared() RETURNS integer LANGUAGE sql AS 'SELECT 1'"};

    REQUIRE(postgres::migrate(scratch.dsn(), shop({shop_table}, {shared})));

    CHECK(scratch.execute("SELECT shop.shared()")[0][0].as<int>() == 1);
    CHECK(scratch.execute("SELECT to_regproc('public.shared') IS NULL")[0][0].as<bool>());
}

TEST_CASE("a broken function's error names its file, and nothing of the others stays", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    REQUIRE(postgres::migrate(scratch.dsn(), shop({shop_table}, {price(1)})));
    const auto [sql, reason] = GENERATE(table<std::string, std::string>(
        {{"CREATE OR REPLACE FUNCTION shop.broken() RETURNS integer LANGUAGE sql AS "
          "'SELECT shop.nobody()'",
          "nobody"},
         {"CREATE OR REPLACE FUNCTION shop.broken() RETURNS integer LANGUAGE plpgsql AS "
          "'BEGIN RETRUN 1; END'",
          "RETRUN"},
         {"CREATE OR REPLACE FUNCTION shop.price(of integer) RETURNS integer LANGUAGE sql AS "
          "'SELECT 1'",
          "function price has two parameter lists: give the new one a new name"}}));

    const auto outcome =
        postgres::migrate(scratch.dsn(), shop({shop_table}, {price(2), {"broken", sql}}));

    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("functions/broken.sql of schema shop failed: ") == 0);
    CHECK(outcome.error().message.find(reason) != std::string::npos);
    CHECK(scratch.execute("SELECT shop.price()")[0][0].as<int>() == 1);
    CHECK(scratch.execute("SELECT count(*) FROM public.tempinbox_functions")[0][0].as<int>() == 1);
}

TEST_CASE("a numbered file may wait for the functions it calls", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto filling =
        make_migration(2, "-- after the functions\nINSERT INTO shop.t VALUES (shop.price())");
    const auto third = make_migration(3, "ALTER TABLE shop.t ADD y int");

    const auto applied =
        postgres::migrate(scratch.dsn(), shop({shop_table, filling, third}, {price(5)})).value();

    CHECK(applied.versions == std::vector<int>{1, 3, 2});
    CHECK(scratch.execute("SELECT x FROM shop.t")[0][0].as<int>() == 5);
    CHECK(postgres::migrate(scratch.dsn(), shop({shop_table, filling, third}, {price(5)}))
              .value()
              .empty());
}

TEST_CASE("two migrators at once apply a changed function once", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    REQUIRE(postgres::migrate(scratch.dsn(), shop({shop_table}, {price(1)})));
    std::vector<result<postgres::applied_files>> outcomes(2,
                                                          failure{errc::internal, "did not run"});

    {
        std::vector<std::thread> migrators;
        for (auto& outcome : outcomes)
            migrators.emplace_back([&outcome, &scratch] {
                outcome = postgres::migrate(scratch.dsn(), shop({shop_table}, {price(2)}));
            });
        for (auto& one : migrators)
            one.join();
    }

    REQUIRE(outcomes[0]);
    REQUIRE(outcomes[1]);
    CHECK(outcomes[0]->functions.size() + outcomes[1]->functions.size() == 1);
    CHECK(scratch.execute("SELECT shop.price()")[0][0].as<int>() == 2);
}

TEST_CASE("a database newer than the program is left alone", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    REQUIRE(postgres::migrate(scratch.dsn(),
                              shop({first, make_migration(2, "CREATE TABLE shop.u (x int)")})));

    CHECK(postgres::migrate(scratch.dsn(), shop({first})).value().empty());
    // Neither does an older text of a function come back.
    REQUIRE(postgres::migrate(
        scratch.dsn(),
        shop({first, make_migration(2, "CREATE TABLE shop.u (x int)")}, {price(2)})));
    CHECK(postgres::migrate(scratch.dsn(), shop({first}, {price(1)})).value().empty());
    CHECK(scratch.execute("SELECT shop.price()")[0][0].as<int>() == 2);
}

TEST_CASE("four migrators at once apply each file once", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    std::vector<result<postgres::applied_files>> outcomes(4,
                                                          failure{errc::internal, "did not run"});
    std::size_t versions = 0, functions = 0;

    {
        std::vector<std::thread> migrators;
        for (auto& outcome : outcomes)
            migrators.emplace_back([&outcome, &scratch] {
                for (const auto schema : migrations::schemas()) {
                    outcome = postgres::migrate(scratch.dsn(), migrations::of_schema(schema));
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
    for (const auto schema : migrations::schemas()) {
        const auto files = migrations::of_schema(schema);
        versions += files.migrations.size();
        functions += files.functions.size();
    }
    const auto count = [&scratch](const std::string& table) {
        return scratch.execute("SELECT count(*) FROM public." + table)[0][0].as<std::size_t>();
    };
    CHECK(count("tempinbox_migrations") == versions);
    CHECK(count("tempinbox_functions") == functions);
}

TEST_CASE("a migration waits for a lock in short turns, so that others pass", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = make_migration(1, "CREATE TABLE shop.t (x int)");
    const auto second = make_migration(2, "ALTER TABLE shop.t ADD y int");
    REQUIRE(postgres::migrate(scratch.dsn(), shop({first})));
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
        result<postgres::applied_files> outcome = failure{errc::internal, "did not run"};
        std::thread migrator(
            [&] { outcome = postgres::migrate(scratch.dsn(), shop({first, second}), retries); });
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
        CHECK(outcome->versions == std::vector<int>{2});
    }
    SECTION("or until it has tried often enough")
    {
        retries.tries = 2;
        const auto outcome = postgres::migrate(scratch.dsn(), shop({first, second}), retries);
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
    REQUIRE(postgres::migrate(scratch.dsn(), shop({all[0]})));
    std::vector<result<postgres::applied_files>> outcomes(4,
                                                          failure{errc::internal, "did not run"});

    {
        // The first migrator waits for this transaction to end; the others wait for the first.
        pqxx::connection other(scratch.dsn());
        pqxx::work writing(other);
        writing.exec("INSERT INTO shop.t VALUES (1, 1)");
        std::vector<std::thread> migrators;
        for (auto& outcome : outcomes)
            migrators.emplace_back([&outcome, &scratch, &all] {
                outcome = postgres::migrate(scratch.dsn(), shop(all));
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
    const auto outcome = postgres::migrate("host=127.0.0.1 port=1", shop({}));
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::unavailable);
}

TEST_CASE("what a database lacks of a schema is found, and nothing is changed", "[postgres]")
{
    const postgres::migration first{1, "first", "CREATE TABLE shop.items (n integer)"};
    const postgres::migration second{2, "second", "CREATE TABLE shop.carts (n integer)"};
    testing::scratch_database scratch(no_schemas);
    const auto compare = [&scratch](const postgres::schema_files& files) {
        return postgres::compare_schemas(scratch.dsn(), std::span(&files, 1)).value().at(0);
    };

    const auto absent = compare(shop({first, second}, {price(1)}));
    REQUIRE(postgres::migrate(scratch.dsn(), shop({first}, {price(1)})));
    const auto lagging = compare(shop({first, second}, {price(2)}));
    REQUIRE(postgres::migrate(scratch.dsn(), shop({first, second}, {price(2)})));
    const auto current = compare(shop({first, second}, {price(2)}));
    const auto newer = compare(shop({first}, {price(1)}));
    auto altered = first;
    altered.sql += " ";

    CHECK(absent.applied == 0);
    CHECK(absent.missing == std::vector{1, 2});
    CHECK(lagging.applied == 1);
    CHECK(lagging.newest == 2);
    CHECK(lagging.missing == std::vector{2});
    CHECK(lagging.changed_functions == std::vector<std::string>{"price"});
    CHECK(current.missing.empty());
    CHECK(current.changed_functions.empty());
    CHECK(newer.applied == 2);
    CHECK(newer.newest == 1);
    CHECK(newer.changed_functions.empty());
    CHECK_FALSE(compare(shop({altered})).conflict.empty());
}
