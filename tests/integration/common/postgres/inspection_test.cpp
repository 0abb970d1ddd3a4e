#include "common/postgres/inspection.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace std::chrono_literals;
using namespace tempinbox;

namespace {

const postgres::partitioned_table& table_of(const std::vector<postgres::partitioned_table>& all,
                                            const std::string& name)
{
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

} // namespace

TEST_CASE("partitions are found by their bounds, by ids and by times alike", "[postgres]")
{
    testing::scratch_database scratch;
    scratch.execute("SELECT mailbox.ensure_email_day('2026-11-21'), "
                    "mailbox.ensure_body_hour('2026-11-21 10:00:00+00')");
    scratch.execute("INSERT INTO mailbox.bodies (body_hour, body_id, account_id, raw) SELECT "
                    "'2026-11-21 11:00:00+00', gen_random_uuid(), gen_random_uuid(), '' FROM "
                    "generate_series(1, 3)");

    const auto found =
        testing::await(postgres::read_partitioned_tables(scratch.db(), {"mailbox", "webhooks"}));

    REQUIRE(found.size() == 7);
    const auto& emails = table_of(found, "mailbox.emails");
    // Of days to come there are some already.
    REQUIRE_FALSE(emails.partitions.empty());
    CHECK(to_iso8601(emails.partitions[0].from) == "2026-11-21T00:00:00.000Z");
    CHECK(to_iso8601(emails.partitions[0].to) == "2026-11-22T00:00:00.000Z");
    CHECK(emails.default_rows == 0);
    const auto& bodies = table_of(found, "mailbox.bodies");
    REQUIRE_FALSE(bodies.partitions.empty());
    CHECK(to_iso8601(bodies.partitions[0].to) == "2026-11-21T11:00:00.000Z");
    CHECK(bodies.default_rows == 3);
}

TEST_CASE("connections are counted against the server's limit and the database's", "[postgres]")
{
    testing::scratch_database scratch;
    const auto name = scratch.execute("SELECT current_database()")[0][0].as<std::string>();

    const auto before = testing::await(postgres::read_connection_limits(scratch.db()));
    scratch.execute("ALTER DATABASE \"" + name + "\" CONNECTION LIMIT 33");
    const auto after = testing::await(postgres::read_connection_limits(scratch.db()));

    REQUIRE(before.size() == 1);
    CHECK(before[0].of == "server");
    CHECK(before[0].used >= 1);
    CHECK(before[0].limit > before[0].used);
    REQUIRE(after.size() == 2);
    CHECK(after[1].of == "database " + name);
    CHECK(after[1].limit == 33);
    CHECK(after[1].used >= 1);
}

TEST_CASE("a role that does not wait for its commits is found", "[postgres]")
{
    testing::scratch_database scratch;
    const auto name = scratch.execute("SELECT current_database()")[0][0].as<std::string>();
    scratch.execute("ALTER DATABASE \"" + name + "\" SET synchronous_commit = off");
    postgres::settings chosen;
    chosen.dsn = scratch.dsn();
    postgres::pool fresh(testing::test_host(), chosen); // the setting is that of new connections

    CHECK_FALSE(testing::await(postgres::read_durability(fresh)).synchronous_commit);
}
