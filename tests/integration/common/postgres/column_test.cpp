#include "common/postgres/column.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using postgres::column;
using namespace std::chrono_literals;

TEST_CASE("a column is read by its name as the type it is read into", "[postgres]")
{
    testing::scratch_database scratch;
    const auto row = scratch.execute(
        "SELECT 'text' AS name, true AS truth, 7::bigint AS number, 60::bigint AS seconds,"
        " 1000001::bigint AS micros, '0190a0a0-0000-7000-8000-000000000001'::uuid AS id,"
        " NULL::text AS nothing, NULL::bigint AS no_time")[0];

    CHECK(column<std::string>(row, "name") == "text");
    CHECK(column<bool>(row, "truth"));
    CHECK(column<std::int64_t>(row, "number") == 7);
    CHECK(column<std::chrono::seconds>(row, "seconds") == 60s);
    CHECK(column<time_point>(row, "micros") == from_unix_micros(1'000'001));
    CHECK(column<account_id>(row, "id").text() == "0190a0a0-0000-7000-8000-000000000001");
    CHECK_FALSE(column<std::optional<std::string>>(row, "nothing"));
    CHECK_FALSE(column<std::optional<time_point>>(row, "no_time"));
    std::optional<int> number;
    postgres::read_column(row, "number", number);
    CHECK(number == 7);
}

TEST_CASE("a column that is not there, or null without being optional, is a bug that throws",
          "[postgres]")
{
    testing::scratch_database scratch;
    const auto row = scratch.execute("SELECT NULL::bigint AS nothing")[0];

    CHECK_THROWS(column<std::int64_t>(row, "nothing"));
    CHECK_THROWS(column<std::optional<std::int64_t>>(row, "another"));
}
