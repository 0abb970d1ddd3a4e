#include "integration/mailbox/seeds.hpp"
#include "mailbox/partition_store.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

std::int64_t partitions_like(seeds::world& world, const std::string& pattern)
{
    return world.scratch.execute("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '" + pattern + "'")[0][0]
        .as<std::int64_t>();
}

} // namespace

TEST_CASE("the next hours and every hour in which an inbox ends get a partition", "[mailbox][postgres]")
{
    seeds::world world;
    partition_store partitions(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    world.scratch.execute(
        "UPDATE mailbox.inboxes SET expires_at = date_trunc('hour', now(), 'UTC') + interval '100 hours 5 minutes'");
    testing::await(world.inboxes.create_operator_inboxes(account_id::make(), "mail.test")).value();

    const auto missing = testing::await(partitions.missing_body_hours(2));
    for (const auto hour : missing)
        testing::await(partitions.ensure_body_hour(hour));

    REQUIRE(missing.size() == 4);
    CHECK(missing[0] == std::chrono::floor<std::chrono::hours>(seeds::now()));
    CHECK(missing[3] - missing[0] == 100h);
    CHECK(testing::await(partitions.missing_body_hours(2)).empty());
    CHECK(partitions_like(world, "^bodies_[0-9]{8}_[0-9]{2}$") == 4);
}

TEST_CASE("the days ahead get a partition once", "[mailbox][postgres]")
{
    seeds::world world;
    partition_store partitions(world.scratch.db());

    testing::await(partitions.ensure_email_days(5));
    testing::await(partitions.ensure_email_days(5));

    CHECK(partitions_like(world, "^emails_[0-9]{8}$") == 6);
}

TEST_CASE("rows that came before their partition are moved into it", "[mailbox][postgres]")
{
    seeds::world world;
    partition_store partitions(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    world.add_email({inbox}, "early");
    REQUIRE(world.count("bodies_default") == 1);

    testing::await(partitions.ensure_body_hour(seeds::now() + 1h));

    CHECK(world.count("bodies_default") == 0);
    CHECK(world.count("bodies") == 1);
}

TEST_CASE("a past partition is dropped when it is empty, not before", "[mailbox][postgres]")
{
    seeds::world world;
    partition_store partitions(world.scratch.db());
    testing::await(partitions.ensure_body_hour(seeds::now() - 50h));
    testing::await(partitions.ensure_body_hour(seeds::now() + 1h));
    world.scratch.execute(
        "INSERT INTO mailbox.bodies VALUES (date_trunc('hour', now() - interval '50 hours', 'UTC'), gen_random_uuid(), 'x')");
    world.scratch.execute("SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date - 5)");

    const auto past = testing::await(partitions.past_partitions());

    REQUIRE(past.size() == 2);
    CHECK_FALSE(testing::await(partitions.drop_if_empty(past[0])));
    CHECK(testing::await(partitions.drop_if_empty(past[1])));
    world.scratch.execute("DELETE FROM mailbox.bodies");
    CHECK(testing::await(partitions.drop_if_empty(past[0])));
    CHECK(testing::await(partitions.past_partitions()).empty());
    CHECK(partitions_like(world, "^bodies_[0-9]{8}_[0-9]{2}$") == 1);
}

TEST_CASE("dropping a partition does not wait long for one who reads", "[mailbox][postgres]")
{
    seeds::world world;
    partition_store partitions(world.scratch.db());
    testing::await(partitions.ensure_body_hour(seeds::now() - 50h));
    const auto past = testing::await(partitions.past_partitions());
    REQUIRE(past.size() == 1);
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work reading(connection);
    reading.exec("SELECT count(*) FROM mailbox.bodies");

    CHECK_THROWS_AS(testing::await(partitions.drop_if_empty(past[0])), postgres::timed_out);

    reading.abort();
    CHECK(testing::await(partitions.drop_if_empty(past[0])));
}
