#include "inbox/lifecycle/partition_maintenance.hpp"
#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

struct maintenance_world : mailbox::seeds::world
{
    mailbox::partition_repository partitions{scratch.db()};

    std::int64_t old_partitions()
    {
        return count(
            "bodies_default AS none RIGHT JOIN pg_class AS c ON false WHERE c.relname ~ "
            "'^bodies_[0-9]{8}_[0-9]{2}$' AND "
            "c.relname < 'bodies_' || to_char(now() - interval '1 hour', 'YYYYMMDD_HH24')");
    }
};

} // namespace

TEST_CASE("partitions are made ahead, and past ones go with the bodies that are left in them",
          "[inbox][postgres]")
{
    maintenance_world world;
    const auto past = mailbox::seeds::now() - 50h;
    testing::await(world.partitions.ensure_body_hour(past));
    world.add_bodies(past);
    REQUIRE(world.old_partitions() == 1);
    inbox::partition_maintenance maintenance(testing::test_host(), world.partitions);

    maintenance.start();

    CHECK(testing::eventually([&] { return world.old_partitions() == 0; }));
    CHECK(testing::eventually(
        [&] { return testing::await(world.partitions.missing_body_hours(26)).empty(); }, 20s));
    testing::await(maintenance.stop());
}

TEST_CASE("what a backup keeps from being dropped for long is emptied meanwhile",
          "[inbox][postgres]")
{
    maintenance_world world;
    for (const auto age : {50h, 3h}) {
        const auto hour = mailbox::seeds::now() - age;
        testing::await(world.partitions.ensure_body_hour(hour));
        world.add_bodies(hour);
    }
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work backup(connection);
    backup.exec("LOCK TABLE mailbox.bodies IN ACCESS SHARE MODE");
    inbox::partition_maintenance maintenance(testing::test_host(), world.partitions);

    maintenance.start();

    // Only after all its tries to drop it, behind the making of a day's partitions.
    CHECK(testing::eventually([&] { return world.count("bodies") == 1; }, 30s));
    CHECK(world.count("bodies WHERE body_hour > now() - interval '5 hours'") == 1);
    CHECK(world.old_partitions() == 2);
    testing::await(maintenance.stop());
}
