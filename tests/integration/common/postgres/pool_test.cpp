#include "common/postgres/pool.hpp"

#include "common/postgres/session.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "integration/common/postgres/held_lock.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <map>
#include <thread>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> no_schemas;

postgres::settings settings_for(const testing::scratch_database& scratch,
                                std::size_t connections = 2)
{
    postgres::settings chosen;
    chosen.dsn = scratch.dsn();
    chosen.connections = connections;
    return chosen;
}

awaitable<std::string> show(postgres::pool& db, const std::string& name)
{
    return db.transact(
        [name](pqxx::work& tx) { return tx.exec1("SHOW " + name)[0].as<std::string>(); });
}

awaitable<void> execute(postgres::pool& db, const std::string& sql)
{
    return db.transact([sql](pqxx::work& tx) { tx.exec(sql); });
}

awaitable<int> count(postgres::pool& db)
{
    return db.transact(
        [](pqxx::work& tx) { return tx.exec1("SELECT count(*) FROM t")[0].as<int>(); });
}

} // namespace

TEST_CASE("a transaction commits and answers what its work answered", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int)");

    const auto outcome = testing::await(scratch.db().transact([](pqxx::work& tx) {
        tx.exec("INSERT INTO t VALUES (1)");
        return std::string("done");
    }));

    CHECK(outcome == "done");
    CHECK(scratch.execute("SELECT count(*) FROM t")[0][0].as<int>() == 1);
}

TEST_CASE("a result that holds a failure rolls back", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int)");

    const auto outcome = testing::await(scratch.db().transact([](pqxx::work& tx) -> result<int> {
        tx.exec("INSERT INTO t VALUES (1)");
        return failure{errc::conflict, "no"};
    }));

    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::conflict);
    CHECK(scratch.execute("SELECT count(*) FROM t")[0][0].as<int>() == 0);
}

TEST_CASE("an exception rolls back and passes through; the connection goes on", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int PRIMARY KEY)");
    postgres::pool db(testing::test_host(), settings_for(scratch, 1));

    CHECK_THROWS_AS(
        testing::await(execute(db, "INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)")),
        pqxx::unique_violation);
    CHECK_THROWS_AS(testing::await(execute(db, "SELECT * FROM nowhere")), pqxx::undefined_table);
    CHECK_THROWS_AS(
        testing::await(db.transact([](pqxx::work&) { throw std::logic_error("mine"); })),
        std::logic_error);

    CHECK(testing::await(count(db)) == 0);
}

TEST_CASE("every connection has the session it needs", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);

    CHECK(testing::await(show(scratch.db(), "TimeZone")) == "UTC");
    CHECK(testing::await(show(scratch.db(), "statement_timeout")) == "5s");
    CHECK(testing::await(show(scratch.db(), "lock_timeout")) == "2s");
    CHECK(testing::await(show(scratch.db(), "client_encoding")) == "UTF8");
    CHECK(testing::await(show(scratch.db(), "application_name")) == "tempinbox-test");
    CHECK(testing::await(show(scratch.db(), "plan_cache_mode")) == "force_generic_plan");
    CHECK(testing::await(show(scratch.db(), "enable_seqscan")) == "off");
}

TEST_CASE("prepared statements are known on every connection, also when added late", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    testing::await(execute(scratch.db(), "SELECT 1"));
    scratch.db().prepare({"double_it", "SELECT $1::int * 2"});

    for (int i = 0; i < 20; ++i) {
        const auto outcome = testing::await(scratch.db().transact([i](pqxx::work& tx) {
            return postgres::exec_prepared1(tx, "double_it", i)[0].as<int>();
        }));
        CHECK(outcome == 2 * i);
    }
}

TEST_CASE("a statement is prepared at its first use, and again after a failure", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    postgres::pool db(testing::test_host(), settings_for(scratch, 1));
    db.prepare({"count_late", "SELECT count(*) FROM late"});
    const auto count_late = [&] {
        return testing::await(db.transact([](pqxx::work& tx) {
            return postgres::exec_prepared1(tx, "count_late")[0].as<int>();
        }));
    };

    testing::await(execute(db, "SELECT 1"));
    CHECK_THROWS_AS(count_late(), pqxx::undefined_table);
    scratch.execute("CREATE TABLE late (a int)");

    CHECK(count_late() == 0);
}

TEST_CASE("a plan is made anew for a table that has grown", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (a int PRIMARY KEY)");
    scratch.execute("ANALYZE t");
    auto chosen = settings_for(scratch, 1);
    chosen.plan_ttl = 0ms;
    postgres::pool db(testing::test_host(), chosen);
    db.prepare(
        {"find_some", "SELECT t.a FROM unnest($1::int[]) AS wanted(a) JOIN t ON t.a = wanted.a"});
    const auto find_some = [&] {
        testing::await(
            db.transact([](pqxx::work& tx) { postgres::exec_prepared(tx, "find_some", "{1}"); }));
    };
    const auto plan = [&] {
        return testing::await(db.transact([](pqxx::work& tx) {
            std::string lines;
            for (const auto& row : tx.exec("EXPLAIN EXECUTE find_some('{1}')"))
                lines += row[0].c_str();
            return lines;
        }));
    };

    find_some();
    CHECK(plan().find("Index Cond") == std::string::npos); // a scan of the empty table
    scratch.execute("INSERT INTO t SELECT generate_series(1, 10000)");
    find_some();

    CHECK(plan().find("Index Cond") != std::string::npos);
}

TEST_CASE("work outside a transaction runs single statements", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int)");

    testing::await(scratch.db().run(
        [](pqxx::connection& db) { pqxx::nontransaction(db).exec("INSERT INTO t VALUES (1)"); }));

    CHECK(scratch.execute("SELECT count(*) FROM t")[0][0].as<int>() == 1);
}

TEST_CASE("many transactions share few connections", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int)");
    postgres::pool db(testing::test_host(), settings_for(scratch, 3));
    int done = 0;

    for (int i = 0; i < 200; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), execute(db, "INSERT INTO t VALUES (1)"),
                              [&done](const std::exception_ptr& error) { done += error ? 0 : 1; });

    CHECK(testing::eventually([&done] { return done == 200; }));
    CHECK(scratch.execute("SELECT count(*) FROM t")[0][0].as<int>() == 200);
    CHECK(scratch
              .execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                       "'tempinbox-test' AND datname = "
                       "current_database()")[0][0]
              .as<int>() <= 3 + 8);
}

TEST_CASE("calls one after another stay on the connections used last", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    postgres::pool db(testing::test_host(), settings_for(scratch, 6));
    constexpr int calls = 200;
    std::map<int, int> uses; // by the server's process

    for (int i = 0; i < calls; ++i)
        ++uses[testing::await(db.transact(
            [](pqxx::work& tx) { return tx.exec1("SELECT pg_backend_pid()")[0].as<int>(); }))];

    std::vector<int> busiest;
    for (const auto& [process, times] : uses)
        busiest.push_back(times);
    std::sort(busiest.rbegin(), busiest.rend());
    busiest.resize(2); // a worker may be woken while the last one is not yet idle
    CHECK(busiest[0] + busiest[1] > calls * 3 / 4);
}

TEST_CASE("statement and lock time-outs are told apart from lost connections", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int); INSERT INTO t VALUES (1)");
    auto chosen = settings_for(scratch);
    chosen.statement_timeout = 200ms;
    chosen.lock_timeout = 50ms;
    postgres::pool db(testing::test_host(), chosen);

    CHECK_THROWS_AS(testing::await(execute(db, "SELECT pg_sleep(5)")), postgres::timed_out);

    pqxx::connection other(scratch.dsn());
    pqxx::work blocker(other);
    blocker.exec("LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
    CHECK_THROWS_AS(testing::await(execute(db, "INSERT INTO t VALUES (2)")), postgres::timed_out);
    blocker.abort();

    CHECK(testing::await(count(db)) == 1);
}

TEST_CASE("a full queue refuses at once", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    auto chosen = settings_for(scratch, 1);
    chosen.queue_limit = 2;
    testing::wait_for_locks(chosen);
    postgres::pool db(testing::test_host(), chosen);
    testing::held_statement held(scratch);
    int done = 0;
    std::string refusal;

    for (int i = 0; i < 4; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              execute(db, "SELECT FROM " + testing::held_statement::lock),
                              [&](const std::exception_ptr& error) {
                                  ++done;
                                  try {
                                      if (error)
                                          std::rethrow_exception(error);
                                  } catch (const dependency_error& caught) {
                                      refusal = caught.what();
                                  }
                              });
    CHECK(testing::eventually([&done] { return done > 0; }));
    held.release();

    CHECK(refusal == "database is busy");
    CHECK(testing::eventually([&done] { return done == 4; }));
}

TEST_CASE("a stopped pool refuses work, also what was queued", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    auto chosen = settings_for(scratch, 1);
    testing::wait_for_locks(chosen);
    postgres::pool db(testing::test_host(), chosen);
    testing::held_statement held(scratch);
    int refused = 0;
    int done = 0;
    for (int i = 0; i < 3; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              execute(db, "SELECT FROM " + testing::held_statement::lock),
                              [&](const std::exception_ptr& error) {
                                  ++done;
                                  refused += error ? 1 : 0;
                              });
    REQUIRE(testing::eventually([&held] { return held.is_under_way(); }));

    std::thread stopping([&db] { db.stop(); }); // which waits for the job that runs
    const bool are_refused = testing::eventually([&refused] { return refused == 2; });
    held.release();
    stopping.join();

    CHECK(are_refused);
    CHECK(testing::eventually([&done] { return done == 3; }));
    CHECK(refused == 2);
    CHECK_THROWS_AS(testing::await(execute(db, "SELECT 1")), dependency_error);
}

TEST_CASE("a caller that is gone before its answer does no harm", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int)");
    testing::held_statement held(scratch);
    {
        runtime::host host("gone", runtime::process_settings{});
        auto chosen = settings_for(scratch, 1);
        testing::wait_for_locks(chosen);
        postgres::pool db(host, chosen);
        boost::asio::co_spawn(
            host.loop(),
            execute(db, "INSERT INTO t SELECT 1 FROM " + testing::held_statement::lock),
            boost::asio::detached);
        CHECK(testing::eventually([&] {
            host.loop().poll();
            return held.is_under_way();
        }));
        held.release(); // the loop does not run any more
    }
    CHECK(scratch.execute("SELECT count(*) FROM t")[0][0].as<int>() == 1);
}

TEST_CASE("the service is unready until the schema is new enough", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    runtime::host host("waiting", runtime::process_settings{});
    postgres::pool db(host, settings_for(scratch, 1));
    db.require_schema("mailbox", 1);

    CHECK(testing::eventually(
        [&] { return host.health().json().find("run tempinbox-migrate") != std::string::npos; }));
    CHECK_FALSE(host.health().is_ready());

    scratch.execute("CREATE TABLE public.tempinbox_migrations (schema text, version int);"
                    "INSERT INTO public.tempinbox_migrations VALUES ('quota', 7), ('mailbox', 1)");
    CHECK(testing::eventually([&] { return host.health().is_ready(); }));
}

TEST_CASE("connections are counted by state", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    runtime::host host("counting", runtime::process_settings{});
    postgres::pool db(host, settings_for(scratch, 2));

    // The probe opens one.
    CHECK(testing::eventually([&] {
        return host.metrics().text().find("tempinbox_db_pool_connections{state=\"idle\"} 1") !=
               std::string::npos;
    }));
    CHECK(host.metrics().text().find("tempinbox_db_pool_connections{state=\"used\"} 0") !=
          std::string::npos);
}
