// A pool whose DSN comes from a file that changes while jobs run.
#include "common/core/ids.hpp"
#include "common/postgres/dsn.hpp"
#include "common/postgres/pool.hpp"
#include "common/testing/await.hpp"
#include "common/testing/database_relay.hpp"
#include "common/testing/scratch_database.hpp"
#include "integration/common/postgres/held_lock.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

using namespace tempinbox;

namespace {

const std::vector<std::string> no_schemas;

// A role of the server, for one test.
class scratch_role
{
public:
    scratch_role(testing::scratch_database& scratch, std::string password)
        : scratch_(scratch),
          password_(std::move(password)),
          name_("tempinbox_role_" + uuid::make_v7().text())
    {
        std::replace(name_.begin(), name_.end(), '-', '_');
        scratch_.execute("CREATE ROLE " + name_ + " LOGIN PASSWORD '" + password_ + "'");
    }
    ~scratch_role()
    {
        try {
            scratch_.execute("DROP ROLE " + name_);
        } catch (const std::exception&) {
            // The next test makes another one.
        }
    }
    scratch_role(const scratch_role&) = delete;

    std::string dsn(const std::string& password) const { return dsn_at(scratch_.dsn(), password); }
    std::string dsn() const { return dsn(password_); }
    // By way of a server in front of the database.
    std::string dsn_at(const std::string& server) const { return dsn_at(server, password_); }

    int connections() const
    {
        return scratch_
            .execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                     "AND usename = '" +
                     name_ + "'")[0][0]
            .as<int>();
    }
    // As an operator ends what an old password opened.
    void terminate_connections() const
    {
        scratch_.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + name_ +
            "'");
    }
    const std::string& name() const { return name_; }

private:
    std::string dsn_at(const std::string& server, const std::string& password) const
    {
        return postgres::with_parameter(postgres::with_parameter(server, "user", name_), "password",
                                        password);
    }

    testing::scratch_database& scratch_;
    std::string password_;
    std::string name_;
};

// A file of a DSN and the pool that follows it.
struct rotated_pool
{
    explicit rotated_pool(const std::string& dsn, std::size_t connections = 4)
        : file(folder.write("dsn", dsn + "\n")),
          db(testing::test_host(), settings(dsn, connections))
    {}

    postgres::settings settings(const std::string& dsn, std::size_t connections) const
    {
        postgres::settings chosen;
        chosen.name = "rotated";
        chosen.dsn = dsn;
        chosen.dsn_file = file;
        chosen.connections = connections;
        testing::wait_for_locks(chosen);
        return chosen;
    }

    void rewrite(const std::string& content) const
    {
        folder.write("dsn", content);
        testing::test_host().files().check();
    }

    testing::scratch_folder folder;
    std::string file;
    postgres::pool db;
};

bool shows(const std::string& series)
{
    return testing::test_host().metrics().text().find(series + "\n") != std::string::npos;
}

awaitable<std::string> current_role(postgres::pool& db, std::string after = "pg_sleep(0)")
{
    return db.transact([after](pqxx::work& tx) {
        return tx.exec1("SELECT current_user FROM " + after)[0].as<std::string>();
    });
}

// What jobs that follow each other met.
struct load
{
    bool is_over = false;
    int running = 0;
    int done = 0;
    int failed = 0;
};

awaitable<void> keep_working(postgres::pool& db, load& made)
{
    while (!made.is_over) {
        try {
            co_await current_role(db, "pg_sleep(0.005)");
            ++made.done;
        } catch (const std::exception&) {
            ++made.failed;
        }
    }
    --made.running;
}

void begin(postgres::pool& db, load& made, int callers)
{
    made.running = callers;
    for (int i = 0; i < callers; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), keep_working(db, made),
                              boost::asio::detached);
}

void end(load& made)
{
    made.is_over = true;
    CHECK(testing::eventually([&] { return made.running == 0; }));
}

bool goes_on(const load& made, int jobs = 50)
{
    const int before = made.done;
    return testing::eventually([&] { return made.done >= before + jobs; });
}

} // namespace

TEST_CASE("connections follow the file while jobs run, and none fails", "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first"), second(scratch, "second");
    rotated_pool pool(first.dsn());
    load made;
    begin(pool.db, made, 6);
    CHECK(goes_on(made));
    CHECK(first.connections() > 0);

    pool.rewrite(second.dsn());

    CHECK(
        testing::eventually([&] { return first.connections() == 0 && second.connections() > 0; }));
    CHECK(goes_on(made));
    end(made);
    CHECK(made.failed == 0);
    CHECK(shows("tempinbox_db_pool_dsn_current{pool=\"rotated\"} 1"));
    pool.db.stop();
}

TEST_CASE("a job that runs ends on its connection, the next one has the new one",
          "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first"), second(scratch, "second");
    rotated_pool pool(first.dsn(), 1);
    testing::await(current_role(pool.db));
    testing::held_statement held(scratch);
    std::string seen;
    boost::asio::co_spawn(
        testing::test_host().loop(), current_role(pool.db, testing::held_statement::lock),
        [&](const std::exception_ptr&, std::string role) { seen = std::move(role); });
    CHECK(testing::eventually([&held] { return held.is_under_way(); }));

    pool.rewrite(second.dsn());
    held.release();

    CHECK(testing::eventually([&] { return !seen.empty(); }));
    CHECK(seen == first.name());
    CHECK(testing::eventually([&] { return first.connections() == 0; }));
    CHECK(testing::await(current_role(pool.db)) == second.name());
    pool.db.stop();
}

TEST_CASE("idle connections are replaced without a job", "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first"), second(scratch, "second");
    rotated_pool pool(first.dsn(), 2);
    testing::await(current_role(pool.db));

    pool.rewrite(second.dsn());

    CHECK(testing::eventually([&] { return first.connections() == 0; }));
    CHECK(testing::await(current_role(pool.db)) == second.name());
    pool.db.stop();
}

TEST_CASE("a connection that was being opened while the DSN changed is replaced",
          "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first"), second(scratch, "second");
    testing::relay slow(testing::server_of(scratch));
    slow.hold();
    const auto slow_dsn = testing::dsn_through(slow, scratch);
    rotated_pool pool(first.dsn_at(slow_dsn), 1);
    CHECK(testing::eventually([&] { return slow.held() == 1; }));

    pool.rewrite(second.dsn());
    CHECK(testing::eventually(
        [] { return shows("tempinbox_db_pool_dsn_current{pool=\"rotated\"} 1"); }));
    slow.restore();

    // The pool has room for one connection, so a job waits for the one that was being opened.
    CHECK(testing::eventually(
        [&] { return testing::await(current_role(pool.db)) == second.name(); }));
    CHECK(testing::eventually([&] { return first.connections() == 0; }));
    pool.db.stop();
}

TEST_CASE("a DSN that does not connect harms nothing, and is tried until it does",
          "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first"), second(scratch, "second");
    rotated_pool pool(first.dsn());
    load made;
    begin(pool.db, made, 4);
    CHECK(goes_on(made));

    pool.rewrite(second.dsn("not yet the password"));

    CHECK(goes_on(made, 200));
    CHECK(shows("tempinbox_db_pool_dsn_current{pool=\"rotated\"} 0"));
    CHECK(first.connections() > 0);
    CHECK(second.connections() == 0);

    scratch.execute("ALTER ROLE " + second.name() + " PASSWORD 'not yet the password'");
    CHECK(
        testing::eventually([&] { return first.connections() == 0 && second.connections() > 0; }));
    end(made);
    CHECK(made.failed == 0);
    pool.db.stop();
}

TEST_CASE("connections that are lost while the new DSN does not connect are opened with the older",
          "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first");
    rotated_pool pool(first.dsn(), 2);
    testing::await(current_role(pool.db));
    pool.rewrite(first.dsn("wrong"));

    first.terminate_connections();

    CHECK(testing::eventually([&] {
        try {
            return testing::await(current_role(pool.db)) == first.name();
        } catch (const dependency_error&) {
            return false;
        }
    }));
    pool.db.stop();
}

TEST_CASE("rubbish in the file, or no file, leaves the DSN in use", "[postgres][secrets]")
{
    testing::scratch_database scratch(no_schemas);
    const scratch_role first(scratch, "first"), second(scratch, "second");
    rotated_pool pool(first.dsn(), 2);
    const auto current = "tempinbox_files_current{setting=\"database-file\"} ";

    for (const auto* rubbish :
         {"", "\n", "no DSN at all", "postgresql://a:b/c@d/e", "host=a\nhost=b"}) {
        pool.rewrite(rubbish);
        CHECK(shows(std::string(current) + "0"));
        CHECK(testing::await(current_role(pool.db)) == first.name());
    }
    std::filesystem::remove(pool.file);
    testing::test_host().files().check();
    CHECK(shows(std::string(current) + "0"));
    CHECK(testing::await(current_role(pool.db)) == first.name());

    pool.rewrite(second.dsn());
    CHECK(shows(std::string(current) + "1"));
    CHECK(testing::eventually([&] { return first.connections() == 0; }));
    pool.db.stop();
}
