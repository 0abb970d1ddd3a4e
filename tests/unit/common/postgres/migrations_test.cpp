#include "common/postgres/migrations.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

result<std::vector<postgres::migration>> read(const std::vector<embedded_file>& files)
{
    return postgres::read_migrations(files, "services/x/migrations/");
}

} // namespace

TEST_CASE("migrations of a folder are read in order", "[postgres]")
{
    const auto found = read({{"services/x/migrations/0002_more.sql", "B"},
                             {"services/y/migrations/0001_other.sql", "C"},
                             {"services/x/migrations/0001_first_table.sql", "A"}});

    REQUIRE(found);
    REQUIRE(found->size() == 2);
    CHECK(found->at(0).version == 1);
    CHECK(found->at(0).name == "first_table");
    CHECK(found->at(0).sql == "A");
    CHECK(found->at(1).version == 2);
}

TEST_CASE("a gap, a repeat or a bad name is a failure", "[postgres]")
{
    CHECK_FALSE(read({{"services/x/migrations/0002_gap.sql", ""}}));
    CHECK_FALSE(
        read({{"services/x/migrations/0001_a.sql", ""}, {"services/x/migrations/0001_b.sql", ""}}));
    CHECK_FALSE(read({{"services/x/migrations/1_short.sql", ""}}));
    CHECK_FALSE(read({{"services/x/migrations/00a1_letter.sql", ""}}));
    CHECK_FALSE(read({{"services/x/migrations/0001_kind.txt", ""}}));
    CHECK_FALSE(read({{"services/x/migrations/0001_.sql", ""}}));
}

TEST_CASE("a folder without files has no migrations", "[postgres]")
{
    const auto found = read({});
    REQUIRE(found);
    CHECK(found->empty());
}
