#include "common/postgres/dsn_settings.hpp"

#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

const std::string some_dsn = "postgresql://me:pass@localhost/t";

struct read_settings
{
    postgres::dsn_settings chosen;
    std::vector<std::string> problems;
};

read_settings read(std::map<std::string, std::string> values, bool is_required = true)
{
    config::reader reader(std::move(values));
    auto chosen = postgres::read_dsn_settings(reader, "", is_required);
    return {std::move(chosen), reader.problems()};
}

} // namespace

TEST_CASE("the DSN is given itself or by a file", "[postgres][settings]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("dsn", some_dsn + "\n");

    const auto itself = read({{"database", some_dsn}});
    const auto by_file = read({{"database-file", file}});

    CHECK(itself.problems.empty());
    CHECK(itself.chosen.dsn == some_dsn);
    CHECK(itself.chosen.file.empty());
    CHECK(by_file.problems.empty());
    CHECK(by_file.chosen.dsn == some_dsn);
    CHECK(by_file.chosen.file == file);
}

TEST_CASE("exactly one of the two is given", "[postgres][settings]")
{
    const testing::scratch_folder folder;
    const auto both =
        read({{"database", some_dsn}, {"database-file", folder.write("dsn", some_dsn)}});
    const auto neither = read({});

    REQUIRE(both.problems.size() == 1);
    CHECK_THAT(both.problems[0], Contains("--database (") && Contains("--database-file ("));
    CHECK_THAT(both.problems[0], !Contains("pass@"));
    REQUIRE(neither.problems.size() == 1);
    CHECK_THAT(neither.problems[0], Contains("--database (") && Contains("--database-file ("));
    CHECK(read({}, false).problems.empty());
    CHECK_FALSE(read({}, false).chosen.is_set());
}

TEST_CASE("what is no DSN is refused without being cited", "[postgres][settings]")
{
    const testing::scratch_folder folder;
    const std::string broken = "postgresql://me:hid/den@localhost/t";

    for (const auto& problems :
         {read({{"database", broken}}).problems,
          read({{"database-file", folder.write("dsn", broken)}}).problems,
          read({{"database-file", folder.write("two", "hid\nden")}}).problems,
          read({{"database-file", folder.file("absent")}}).problems}) {
        REQUIRE(problems.size() == 1);
        CHECK_THAT(problems[0], !Contains("hid"));
    }
    CHECK_THROWS_WITH(postgres::read_dsn_file(folder.write("dsn", broken)),
                      Contains("/dsn") && !Contains("hid"));
}
