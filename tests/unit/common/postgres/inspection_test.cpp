#include "common/postgres/inspection.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;

TEST_CASE("rows have partitions until the first gap", "[postgres]")
{
    const auto now = *parse_iso8601("2026-11-21T10:30:00Z");
    const auto hour = std::chrono::floor<std::chrono::hours>(now);
    postgres::partitioned_table bodies;

    CHECK(postgres::covered_until(bodies, now) == now);
    bodies.partitions = {{hour - 1h, hour}, {hour, hour + 1h}, {hour + 1h, hour + 2h}};
    CHECK(postgres::covered_until(bodies, now) == hour + 2h);
    bodies.partitions.emplace_back(hour + 3h, hour + 4h);
    CHECK(postgres::covered_until(bodies, now) == hour + 2h);
    CHECK(postgres::covered_until(bodies, hour + 150min) == hour + 150min);
}
