#include "common/postgres/composite_type.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::postgres;

namespace {

const std::vector<std::string> no_schemas;

constexpr const char* make_type =
    "CREATE TYPE pair AS (number integer, name text, flags boolean[], raw bytea)";

// The pairs of an array, as PostgreSQL shows them.
std::string show_pairs(testing::scratch_database& scratch)
{
    return testing::await(scratch.db().transact([](pqxx::work& tx) {
        binary_array pairs(composite_oid(tx, "pair"));
        pairs.add_row(std::int32_t{7}, std::optional<std::string>("a \"b\""),
                      std::vector<bool>{true, false}, bytea{std::string_view("\0\1", 2)});
        pairs.add_row(std::int32_t{-1}, std::optional<std::string>(), std::vector<bool>(),
                      bytea{""});
        return tx
            .exec_params1("SELECT string_agg(p::text, ' ' ORDER BY number DESC)"
                          " FROM unnest($1::pair[]) AS p",
                          pairs.parameter())[0]
            .as<std::string>();
    }));
}

} // namespace

TEST_CASE("rows of a composite type reach PostgreSQL as they are", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute(make_type);

    CHECK(show_pairs(scratch) == R"((7,"a ""b""","{t,f}","\\x0001") (-1,,{},"\\x"))");
}

TEST_CASE("each database has its own OID of a composite type", "[postgres]")
{
    testing::scratch_database first(no_schemas), second(no_schemas);
    first.execute(make_type);
    second.execute("CREATE TYPE other AS (number integer)");
    second.execute(make_type);

    CHECK(show_pairs(first) == show_pairs(second));
}

TEST_CASE("a composite type made anew is found by the next connection", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    scratch.execute(make_type);
    const auto before = show_pairs(scratch);

    scratch.execute("DROP TYPE pair");
    scratch.execute(make_type);
    scratch.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()");

    CHECK(show_pairs(scratch) == before);
}

TEST_CASE("a composite type that does not exist is an error", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);

    CHECK_THROWS_AS(show_pairs(scratch), pqxx::sql_error);
}
