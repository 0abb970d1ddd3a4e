#include "common/postgres/migrations.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

result<std::vector<postgres::migration>> read(const std::vector<embedded_file>& files)
{
    return postgres::read_migrations(files, "libs/x/schema/");
}

} // namespace

TEST_CASE("migrations of a folder are read in order", "[postgres]")
{
    const auto found = read({{"libs/x/schema/0002_more.sql", "B"},
                             {"libs/y/schema/0001_other.sql", "C"},
                             {"libs/x/schema/0001_first_table.sql", "A"}});

    REQUIRE(found);
    REQUIRE(found->size() == 2);
    CHECK(found->at(0).version == 1);
    CHECK(found->at(0).name == "first_table");
    CHECK(found->at(0).sql == "A");
    CHECK(found->at(1).version == 2);
}

TEST_CASE("a gap, a repeat or a bad name is a failure", "[postgres]")
{
    CHECK_FALSE(read({{"libs/x/schema/0002_gap.sql", ""}}));
    CHECK_FALSE(read({{"libs/x/schema/0001_a.sql", ""}, {"libs/x/schema/0001_b.sql", ""}}));
    CHECK_FALSE(read({{"libs/x/schema/1_short.sql", ""}}));
    CHECK_FALSE(read({{"libs/x/schema/00a1_letter.sql", ""}}));
    CHECK_FALSE(read({{"libs/x/schema/0001_kind.txt", ""}}));
    CHECK_FALSE(read({{"libs/x/schema/0001_.sql", ""}}));
}

TEST_CASE("a folder without files has no migrations", "[postgres]")
{
    const auto found = read({});
    REQUIRE(found);
    CHECK(found->empty());
}

TEST_CASE("the functions of a folder are read by name", "[postgres]")
{
    const auto found =
        postgres::read_functions(std::vector<embedded_file>{{"libs/x/functions/write.sql", "B"},
                                                            {"libs/x/functions/list_all.sql", "A"},
                                                            {"libs/x/schema/0001_x.sql", "C"},
                                                            {"libs/y/functions/other.sql", "D"}},
                                 "libs/x/functions/");

    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "list_all");
    CHECK(found[0].sql == "A");
    CHECK(found[1].name == "write");
}
