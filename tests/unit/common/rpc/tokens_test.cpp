#include "common/rpc/tokens.hpp"
#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

const std::string first = "first-token-0123456789";
const std::string second = "second-token-0123456789";

} // namespace

TEST_CASE("the first token is sent, each is accepted", "[rpc]")
{
    const testing::scratch_folder folder;
    rpc::tokens tokens(folder.write("tokens", "  " + first + "\r\n\n" + second + "\n"));

    CHECK(tokens.current().reveal() == first);
    CHECK(tokens.accepts(first));
    CHECK(tokens.accepts(second));
    CHECK_FALSE(tokens.accepts(""));
    CHECK_FALSE(tokens.accepts(first + "x"));
    CHECK_FALSE(tokens.accepts(first.substr(1)));
}

TEST_CASE("a token file that cannot serve is refused at start", "[rpc]")
{
    const testing::scratch_folder folder;

    CHECK_THROWS_WITH(rpc::tokens(folder.file("absent")), Contains("cannot read"));
    CHECK_THROWS_WITH(rpc::tokens(folder.write("short", "tooshort\n")),
                      Contains("shorter than 16"));
    CHECK_THROWS_WITH(rpc::tokens(folder.write("empty", "\n\n")), Contains("one or two lines"));
    CHECK_THROWS_WITH(
        rpc::tokens(folder.write("three", first + "\n" + second + "\nthird-token-0123456789\n")),
        Contains("one or two lines"));
}

TEST_CASE("tokens whose file is watched follow it, and a bad file is shown", "[rpc][secrets]")
{
    const testing::scratch_folder folder;
    auto& files = testing::test_host().files();
    rpc::tokens tokens(files, "watched-token-file", folder.write("tokens", first + "\n"));
    const auto shows = [](const std::string& value) {
        return testing::test_host().metrics().text().find(
                   "tempinbox_files_current{setting=\"watched-token-file\"} " + value + "\n") !=
               std::string::npos;
    };
    CHECK(tokens.accepts(first));
    CHECK_FALSE(tokens.accepts(second));

    folder.write("tokens", "tooshort\n");
    files.check();
    CHECK(tokens.accepts(first));
    CHECK(shows("0"));

    folder.write("tokens", second + "\n" + first + "\n");
    files.check();
    CHECK(tokens.current().reveal() == second);
    CHECK(tokens.accepts(first));
    CHECK(shows("1"));
}
