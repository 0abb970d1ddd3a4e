#include "migrations/schemas.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace tempinbox;

TEST_CASE("each schema begins with one file of its name", "[postgres]")
{
    for (const auto schema : migrations::schemas()) {
        const auto found = migrations::of_schema(schema);
        CAPTURE(found.schema);
        CHECK(found.schema == schema);
        REQUIRE_FALSE(found.migrations.empty());
        CHECK(found.migrations.front().name == schema);
    }
}

TEST_CASE("a schema has the functions of its home and no other", "[postgres]")
{
    std::vector<std::string> names;
    for (const auto& function : migrations::of_schema("quota").functions)
        names.push_back(function.name);

    CHECK(names ==
          std::vector<std::string>{"block_size", "settle", "store_debts", "today", "write_off"});
}

TEST_CASE("a schema that does not exist is a mistake of the caller", "[postgres]")
{
    CHECK_THROWS_AS(migrations::of_schema("nowhere"), std::logic_error);
}
