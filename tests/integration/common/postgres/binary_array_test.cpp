#include "common/postgres/binary_array.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::postgres;

namespace {

const std::vector<std::string> no_schemas;

// The only field of the first row.
std::string ask(testing::scratch_database& scratch, std::string sql, pqxx::binarystring array)
{
    return testing::await(scratch.db().transact(
        [sql, array](pqxx::work& tx) { return tx.exec_params1(sql, array)[0].as<std::string>(); }));
}

} // namespace

TEST_CASE("arrays of every type reach PostgreSQL as they are", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto first = account_id::make(), second = account_id::make();

    CHECK(ask(scratch, "SELECT $1::text[]",
              to_array(std::vector<std::string>{"a", "", "b\"c\\,{}\n", "käse"})) ==
          "{a,\"\",\"b\\\"c\\\\,{}\n\",käse}");
    CHECK(ask(scratch, "SELECT $1::bigint[]",
              to_array(std::vector<std::int64_t>{1, -2, INT64_MAX})) ==
          "{1,-2,9223372036854775807}");
    CHECK(ask(scratch, "SELECT $1::boolean[]", to_array(std::vector<bool>{true, false})) ==
          "{t,f}");
    CHECK(ask(scratch, "SELECT $1::uuid[]", to_array(std::vector{first, second})) ==
          "{" + first.text() + "," + second.text() + "}");
    CHECK(ask(scratch, "SELECT $1::text[]", to_array(std::vector<std::string>())) == "{}");
}

TEST_CASE("pairs of ids become two arrays in one order", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const auto account = account_id::make();
    const auto inbox = inbox_id::make();

    const auto [accounts, inboxes] = to_arrays(std::vector{std::pair{account, inbox}});

    CHECK(ask(scratch, "SELECT $1::uuid[]", accounts) == "{" + account.text() + "}");
    CHECK(ask(scratch, "SELECT $1::uuid[]", inboxes) == "{" + inbox.text() + "}");
}

TEST_CASE("an array of absent texts, times and numbers is read back by type", "[postgres]")
{
    testing::scratch_database scratch(no_schemas);
    const std::vector<std::optional<std::string>> texts{std::nullopt, "a"};
    const std::vector<time_point> times{from_unix_micros(1'000'001)};
    const std::vector<std::chrono::sys_days> days{std::chrono::year{1999} / 12 / 31};
    const std::vector<bytea> bytes{bytea{std::string_view("\0\xff", 2)}};

    CHECK(ask(scratch, "SELECT $1::text[]", to_array(texts)) == "{NULL,a}");
    CHECK(ask(scratch, "SELECT $1::timestamptz[]", to_array(times)) ==
          "{\"1970-01-01 00:00:01.000001+00\"}");
    CHECK(ask(scratch, "SELECT $1::date[]", to_array(days)) == "{1999-12-31}");
    CHECK(ask(scratch, "SELECT $1::integer[]", to_array(std::vector<std::int32_t>{-7})) == "{-7}");
    CHECK(ask(scratch, "SELECT $1::bytea[]", to_array(bytes)) == "{\"\\\\x00ff\"}");
}
