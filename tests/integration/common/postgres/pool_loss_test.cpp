// What callers see when PostgreSQL or the connection to it is lost.
#include "common/core/ids.hpp"
#include "common/postgres/dsn.hpp"
#include "common/postgres/pool.hpp"
#include "common/testing/await.hpp"
#include "common/testing/database_relay.hpp"
#include "common/testing/scratch_database.hpp"
#include "integration/common/postgres/held_lock.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>

#include <optional>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> no_schemas;

awaitable<void> execute(postgres::pool& db, const std::string& sql)
{
    return db.transact([sql](pqxx::work& tx) { tx.exec(sql); });
}

bool works(postgres::pool& db)
{
    try {
        testing::await(execute(db, "SELECT 1"));
        return true;
    } catch (const dependency_error&) {
        return false;
    }
}

void terminate_others(testing::scratch_database& scratch, const std::string& condition = "true")
{
    scratch.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                    "current_database() AND pid <> pg_backend_pid() "
                    "AND " +
                    condition);
}

postgres::settings settings_for(std::string dsn, std::size_t connections = 1)
{
    postgres::settings chosen;
    chosen.dsn = std::move(dsn);
    chosen.connections = connections;
    return chosen;
}

// A role with a limited number of connections.
struct limited_role
{
    std::string name = "limited_" + uuid::make_v7().text().substr(24);
    std::string dsn;

    limited_role(testing::scratch_database& scratch, int connections) : scratch_(scratch)
    {
        scratch.execute("CREATE ROLE " + name + " LOGIN PASSWORD 'secret' CONNECTION LIMIT " +
                        std::to_string(connections));
        dsn = postgres::with_parameter(postgres::with_parameter(scratch.dsn(), "user", name),
                                       "password", "secret");
    }
    limited_role(const limited_role&) = delete;
    ~limited_role() { scratch_.execute("DROP ROLE " + name); }

    void allow(int connections) const
    {
        scratch_.execute("ALTER ROLE " + name + " CONNECTION LIMIT " + std::to_string(connections));
    }
    int connections() const
    {
        return scratch_
            .execute("SELECT count(*) FROM pg_stat_activity WHERE usename = '" + name + "'")[0][0]
            .as<int>();
    }

private:
    testing::scratch_database& scratch_;
};

// Work that was begun, and how it ended.
struct tally
{
    int begun = 0, done = 0, failed = 0;

    bool is_done() const { return done == begun; }
};

void begin(postgres::pool& db, const std::string& sql, tally& of)
{
    ++of.begun;
    boost::asio::co_spawn(testing::test_host().loop(), execute(db, sql),
                          [&of](const std::exception_ptr& error) {
                              of.failed += error ? 1 : 0;
                              ++of.done;
                          });
}

bool is_degraded()
{
    return testing::test_host().health().json().find("\"postgresql\":\"") != std::string::npos;
}

// While it exists, new connections to the database stand still after the server has counted them
// and before it lets them in. Nothing else may be connected to the database.
class closed_door
{
public:
    explicit closed_door(const testing::scratch_database& scratch)
        : elsewhere_(postgres::with_parameter(scratch.dsn(), "dbname", "postgres")),
          name_(pqxx::connection(scratch.dsn()).dbname()),
          held_(elsewhere_, "ALTER DATABASE " + name_ + " RENAME TO " + name_ + "_held")
    {}

    int waiting() const
    {
        pqxx::connection connection(elsewhere_);
        return pqxx::nontransaction(connection)
            .exec("SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.objid WHERE "
                  "l.classid = 'pg_database'::regclass AND NOT l.granted AND d.datname = '" +
                  name_ + "'")[0][0]
            .as<int>();
    }

private:
    std::string elsewhere_;
    std::string name_;
    testing::held_lock held_;
};

} // namespace

TEST_CASE("an idle connection that the server closed is replaced unseen", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    auto chosen = settings_for(scratch.dsn());
    chosen.plan_ttl = GENERATE(60'000, 0) * 1ms;
    postgres::pool db(testing::test_host(), chosen);
    scratch.db().stop();

    for (int i = 0; i < 20; ++i) {
        testing::await(execute(db, "SELECT 1"));
        terminate_others(scratch);
        CHECK_NOTHROW(testing::await(execute(db, "SELECT 1")));
    }
}

TEST_CASE(
    "a connection lost during the work is a dependency_error, and the next work finds a fresh one",
    "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int)");
    auto& db = scratch.db();
    std::exception_ptr seen;
    bool is_done = false;
    boost::asio::co_spawn(testing::test_host().loop(),
                          execute(db, "INSERT INTO t SELECT 1 FROM pg_sleep(4)"),
                          [&](const std::exception_ptr& error) {
                              seen = error;
                              is_done = true;
                          });
    testing::eventually([&] {
        return scratch
                   .execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND "
                            "state = 'active'")[0][0]
                   .as<int>() == 1;
    });

    terminate_others(scratch, "query LIKE 'INSERT%'");

    REQUIRE(testing::eventually([&] { return is_done; }));
    REQUIRE(seen);
    CHECK_THROWS_AS(std::rethrow_exception(seen), dependency_error);
    try {
        std::rethrow_exception(seen);
    } catch (const postgres::commit_unknown&) {
        FAIL("nothing was committed for certain");
    } catch (const dependency_error&) {
        SUCCEED();
    }
    CHECK_NOTHROW(testing::await(execute(db, "SELECT 1")));
    CHECK(scratch.execute("SELECT count(*) FROM t")[0][0].as<int>() == 0);
}

TEST_CASE("a connection lost during COMMIT leaves the outcome unknown", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute("CREATE TABLE t (x int);"
                    "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                    "pg_terminate_backend(pg_backend_pid()); "
                    "RETURN NULL; END $$;"
                    "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON t DEFERRABLE INITIALLY "
                    "DEFERRED FOR EACH ROW EXECUTE FUNCTION "
                    "die()");

    CHECK_THROWS_AS(testing::await(execute(scratch.db(), "INSERT INTO t VALUES (1)")),
                    postgres::commit_unknown);

    CHECK_NOTHROW(testing::await(execute(scratch.db(), "SELECT 1")));
}

TEST_CASE("a connection lost during a single statement leaves the outcome unknown", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto die = [](pqxx::connection& db) {
        pqxx::nontransaction(db).exec("SELECT pg_terminate_backend(pg_backend_pid())");
    };

    CHECK_THROWS_AS(testing::await(scratch.db().run(die)), postgres::commit_unknown);

    CHECK_NOTHROW(testing::await(execute(scratch.db(), "SELECT 1")));
}

TEST_CASE("a server that was never there is waited for", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    testing::relay relay(testing::server_of(scratch));
    relay.cut();
    runtime::host host("early", runtime::process_settings{});
    postgres::pool db(host, settings_for(testing::dsn_through(relay, scratch)));

    CHECK(testing::eventually([&] {
        return host.health().json().find("\"waiting\":{\"postgresql\"") != std::string::npos;
    }));
    CHECK_FALSE(host.health().is_ready());

    relay.restore();
    CHECK(testing::eventually([&] { return host.health().is_ready(); }));
}

TEST_CASE("a server killed and started again is lost and found", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    testing::relay relay(testing::server_of(scratch));
    postgres::pool db(testing::test_host(), settings_for(testing::dsn_through(relay, scratch), 4));
    REQUIRE(works(db));

    relay.cut();
    // Fast: refused work does not wait for the server.
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i)
        CHECK_FALSE(works(db));
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    CHECK(testing::eventually(is_degraded));

    relay.restore();
    CHECK(testing::eventually([&] { return works(db); }));
}

TEST_CASE("a server that stands still does not hold its callers for ever", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    testing::relay relay(testing::server_of(scratch));
    auto chosen = settings_for(testing::dsn_through(relay, scratch), GENERATE(1U, 3U));
    chosen.statement_timeout = 250ms;
    chosen.plan_ttl = GENERATE(60'000, 0) * 1ms;
    postgres::pool db(testing::test_host(), chosen);
    REQUIRE(works(db));

    relay.freeze();
    int failed = 0;
    for (int i = 0; i < 3; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), execute(db, "SELECT 1"),
                              [&](const std::exception_ptr& error) { failed += error ? 1 : 0; });

    CHECK(testing::eventually([&] { return failed == 3; }));
    relay.restore();
    CHECK(testing::eventually([&] { return works(db); }));
}

TEST_CASE("where the server has no connection more to give, work waits for those that are there",
          "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const limited_role role(scratch, 1);
    postgres::pool db(testing::test_host(), settings_for(role.dsn, 4));
    tally jobs;
    const auto work = [&] {
        for (int i = 0; i < 40; ++i)
            begin(db, "SELECT pg_sleep(0.02)", jobs);
    };
    REQUIRE(works(db));

    work();
    CHECK(testing::eventually([&] { return jobs.is_done(); }));
    CHECK(jobs.failed == 0);
    CHECK(testing::test_host().health().json().find("too many connections") == std::string::npos);

    // Connections that the server grants again are opened.
    role.allow(4);
    bool are_all_open = false;
    for (int round = 0; round < 100 && !are_all_open; ++round) {
        work();
        REQUIRE(testing::eventually([&] { return jobs.is_done(); }));
        are_all_open = role.connections() == 4;
    }
    CHECK(are_all_open);
    CHECK(jobs.failed == 0);
}

TEST_CASE("work waits for the pool's first connection while that is being opened", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.db().stop();
    const limited_role role(scratch, 1);
    std::optional<closed_door> door(scratch);
    postgres::pool db(testing::test_host(), settings_for(role.dsn, 4));
    REQUIRE(testing::eventually([&] { return door->waiting() == 1; }));

    tally jobs;
    for (int i = 0; i < 10; ++i)
        begin(db, "SELECT 1", jobs);
    // A further connection would be refused within this time.
    testing::eventually([&] { return jobs.done > 0; }, 300ms);
    CHECK(jobs.done == 0);

    door.reset();
    CHECK(testing::eventually([&] { return jobs.is_done(); }));
    CHECK(jobs.failed == 0);
    CHECK_FALSE(is_degraded());
}

TEST_CASE("a first connection that does not come up holds nothing up for long", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    testing::relay relay(testing::server_of(scratch));
    relay.hold();
    auto dsn = testing::dsn_through(relay, scratch);
    postgres::pool db(testing::test_host(),
                      settings_for(postgres::with_parameter(dsn, "connect_timeout", "60"), 2));
    REQUIRE(testing::eventually([&] { return relay.held() == 1; }));

    tally jobs;
    begin(db, "SELECT 1", jobs);
    CHECK(testing::eventually([&] { return relay.held() == 2; }));

    relay.restore();
    CHECK(testing::eventually([&] { return jobs.is_done(); }));
    CHECK(jobs.failed == 0);
}

TEST_CASE("the only connection is replaced at once though a further one was refused", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const limited_role role(scratch, 1);
    postgres::pool db(testing::test_host(), settings_for(role.dsn, 4));
    REQUIRE(works(db));

    for (int round = 0; round < 5; ++round) {
        tally jobs;
        for (int i = 0; i < 10; ++i)
            begin(db, "SELECT pg_sleep(0.05)", jobs);
        REQUIRE(testing::eventually([&] { return jobs.is_done(); }));
        CHECK(jobs.failed == 0);

        // Returns when the server has the place free again.
        scratch.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE "
                        "usename = '" +
                        role.name + "'");
        CHECK(works(db));
    }
}

TEST_CASE("a pool whose only connection was slow to answer is well again once it has", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const limited_role role(scratch, 1);
    auto chosen = settings_for(role.dsn, 2);
    chosen.statement_timeout = 1s;
    postgres::pool db(testing::test_host(), chosen);
    REQUIRE(works(db));

    tally jobs;
    begin(db, "SET LOCAL statement_timeout = 0; SELECT pg_sleep(3)", jobs);
    CHECK(testing::eventually(is_degraded));

    CHECK(testing::eventually([&] { return jobs.is_done(); }));
    CHECK(jobs.failed == 0);
    CHECK(testing::eventually([] { return !is_degraded(); }));
}

TEST_CASE("with no connection at all and none to be had, work is refused", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const limited_role role(scratch, 0);
    postgres::pool db(testing::test_host(), settings_for(role.dsn, 4));

    CHECK_FALSE(works(db));

    role.allow(1);
    CHECK(testing::eventually([&] { return works(db); }));
}
