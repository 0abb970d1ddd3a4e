#include "common/postgres/clock_watch.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using testing::test_host;

namespace {

struct clock_world
{
    testing::scratch_database scratch{{"mailbox"}};
    testing::shifted_clock clock;
    std::unique_ptr<postgres::pool> db;
    std::unique_ptr<postgres::clock_watch> watch;

    // `body`: the body of the clock_timestamp() that PostgreSQL has in this test.
    explicit clock_world(const std::string& body = "")
    {
        postgres::settings chosen;
        chosen.dsn = scratch.dsn();
        chosen.connections = 1;
        if (!body.empty()) {
            scratch.execute("CREATE SCHEMA clock; CREATE FUNCTION clock.clock_timestamp() RETURNS "
                            "timestamptz LANGUAGE plpgsql AS "
                            "$$ DECLARE t timestamptz; BEGIN " +
                            body + " END $$");
            scratch.execute("ALTER DATABASE \"" +
                            scratch.execute("SELECT current_database()")[0][0].as<std::string>() +
                            "\" SET search_path = clock, pg_catalog, public");
        }
        db = std::make_unique<postgres::pool>(test_host(), chosen);
        watch = std::make_unique<postgres::clock_watch>(test_host(), *db, clock, 20ms);
    }
    ~clock_world() { testing::await(watch->stop()); }

    void compare()
    {
        watch->start();
        REQUIRE(testing::await(watch->is_compared()));
    }
};

double shown_offset()
{
    const std::string name = "\ntempinbox_db_clock_offset_seconds ";
    const auto text = test_host().metrics().text();
    return std::stod(text.substr(text.find(name) + name.size()));
}

bool is_degraded()
{
    const auto body = test_host().health().json();
    return body.find("\"clock\":\"this clock says ") != std::string::npos;
}

} // namespace

TEST_CASE("a clock within a minute of PostgreSQL's is good", "[postgres]")
{
    clock_world world;
    world.clock.set_ahead(GENERATE(0s, 58s, -58s));

    world.compare();

    CHECK_FALSE(world.watch->is_off());
    CHECK_FALSE(is_degraded());
}

TEST_CASE("a process that starts more than a minute off ends, and says both times", "[postgres]")
{
    clock_world world;
    world.clock.set_ahead(GENERATE(62s, -62s));
    world.watch->start();

    CHECK_THROWS_WITH(testing::eventually([] { return false; }),
                      Catch::Contains("this clock says 20") && Catch::Contains("PostgreSQL's 20"));
    CHECK(world.watch->is_off());
}

TEST_CASE(
    "a clock that goes off later shows at once, in health and as a metric, until it is right again",
    "[postgres]")
{
    clock_world world;
    world.compare();

    world.clock.set_ahead(-2min);
    CHECK(world.watch->is_off());
    CHECK(testing::eventually([] { return is_degraded(); }));
    CHECK(shown_offset() == Approx(-120).margin(2));
    CHECK(world.watch->is_off());
    CHECK(test_host().health().json().find("\"degraded\":[\"clock\"") != std::string::npos);

    world.clock.set_ahead(0s);
    CHECK_FALSE(world.watch->is_off());
    CHECK(testing::eventually([] { return !is_degraded(); }));
}

TEST_CASE("PostgreSQL's clock may be the one that goes off", "[postgres]")
{
    clock_world world("RETURN pg_catalog.clock_timestamp() + (SELECT max(by) FROM public.moved);");
    world.scratch.execute(
        "CREATE TABLE public.moved (by interval); INSERT INTO public.moved VALUES ('0')");
    world.compare();

    world.scratch.execute("UPDATE public.moved SET by = '2 min'");

    CHECK(testing::eventually([&] { return world.watch->is_off(); }));
    CHECK(testing::eventually([] { return shown_offset() < -100; }));
    world.scratch.execute("UPDATE public.moved SET by = '0'");
    CHECK(testing::eventually([&] { return !world.watch->is_off(); }));
}

TEST_CASE("the time a query takes counts for neither clock", "[postgres]")
{
    // One clock is behind and slow to respond, the other is ahead and slow to read: compared with
    // the time at the other end of the query, both would be more than a minute off.
    const auto body = GENERATE(
        "t := pg_catalog.clock_timestamp() - interval '59.8 s'; PERFORM pg_sleep(0.4); RETURN t;",
        "PERFORM pg_sleep(0.4); RETURN pg_catalog.clock_timestamp() + interval '59.8 s';");
    clock_world world(body);

    world.compare();

    CHECK_FALSE(world.watch->is_off());
    CHECK(std::abs(shown_offset()) < 60);
}
