#include "common/kafka/partition_plan.hpp"

#include <catch2/catch.hpp>

using tempinbox::kafka::partition_plan;

TEST_CASE("partitions found at first are read from their end, later ones from their beginning",
          "[kafka]")
{
    partition_plan plan(false);

    plan.add({"t", 0}, 5, 10);
    CHECK(plan.positions().at({"t", 0}).next == 10);
    CHECK_FALSE(plan.knows_all({"t"}));
    plan.mark_known("t");
    CHECK(plan.knows_all({"t"}));
    plan.add({"t", 1}, 0, 3);

    CHECK(plan.positions().at({"t", 1}).next == 0);
}

TEST_CASE("a plan from the beginning is current when the end of then is reached", "[kafka]")
{
    partition_plan plan(true);
    plan.add({"t", 0}, 5, 10);

    CHECK_FALSE(plan.has_reached_targets());
    plan.set_next({"t", 0}, 9);
    CHECK_FALSE(plan.has_reached_targets());
    plan.set_next({"t", 0}, 10);
    CHECK(plan.has_reached_targets());
}

TEST_CASE("after the brokers were away there is a new end to reach", "[kafka]")
{
    partition_plan plan(false);
    plan.add({"t", 0}, 0, 10);
    CHECK(plan.has_reached_targets());

    plan.set_target({"t", 0}, 12);
    CHECK_FALSE(plan.has_reached_targets());
    plan.set_next({"t", 0}, 12);
    CHECK(plan.has_reached_targets());
}
