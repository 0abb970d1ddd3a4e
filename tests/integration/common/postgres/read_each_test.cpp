#include "common/postgres/read_each.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;

namespace {

const std::vector<std::string> no_schemas;
constexpr int damaged = 2;

// Numbers from 0; reading `damaged` fails, and each statement takes its time.
std::vector<result<int>> read_numbers(int count, const std::string& seconds)
{
    testing::scratch_database scratch(no_schemas);
    postgres::settings chosen;
    chosen.dsn = scratch.dsn();
    postgres::pool db(testing::test_host(), chosen);
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i)
        numbers.push_back(i);
    return testing::await(postgres::read_each<int>(
        db, std::move(numbers),
        [seconds](pqxx::nontransaction& tx, const std::vector<int>& asked) {
            if (std::find(asked.begin(), asked.end(), damaged) != asked.end())
                throw std::runtime_error("damaged");
            tx.exec("SELECT pg_sleep(" + seconds + ")");
            return std::vector<result<int>>(asked.begin(), asked.end());
        },
        "The number cannot be read", [](int number) { return std::to_string(number); }));
}

} // namespace

TEST_CASE("a damaged row fails alone", "[postgres][together]")
{
    const auto read = read_numbers(5, "0");

    REQUIRE(read.size() == 5);
    for (int i = 0; i < 5; ++i)
        if (i != damaged)
            CHECK(read.at(static_cast<std::size_t>(i)).value() == i);
    CHECK(read.at(damaged).error().code == errc::internal);
    CHECK(read.at(damaged).error().message == "The number cannot be read");
}

TEST_CASE("what was not read beside a damaged row for want of time can be asked for again",
          "[postgres][together]")
{
    const auto read = read_numbers(6, "0.7");

    CHECK(read.front().value() == 0);
    CHECK(read.at(damaged).error().code == errc::internal);
    CHECK(read.back().error().code == errc::unavailable);
}
