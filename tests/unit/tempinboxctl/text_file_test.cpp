#include "tempinboxctl/text_file.hpp"

#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace tempinbox;
using namespace tempinbox::ctl;

TEST_CASE("a secret is written into a new file that only its owner reads", "[tempinboxctl]")
{
    const testing::scratch_folder folder;
    const auto file = folder.file("key");

    REQUIRE(write_secret_file(file, secret("ti_live_x")));

    CHECK(read_text_file(file).value() == "ti_live_x\n");
    CHECK(read_secret_file(file).value().reveal() == "ti_live_x");
    CHECK(std::filesystem::status(file).permissions() == std::filesystem::perms(0600));
}

TEST_CASE("a file that is there is never overwritten, nor what a link leads to", "[tempinboxctl]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("other", "another's\n");
    const auto link = folder.file("link");
    std::filesystem::create_symlink(folder.file("absent"), link);

    CHECK(write_secret_file(file, secret("x")).error().code == errc::conflict);
    CHECK(write_secret_file(link, secret("x")).error().code == errc::conflict);
    CHECK(write_secret_file(folder.file("no/key"), secret("x")).error().code ==
          errc::invalid_argument);
    CHECK(read_text_file(file).value() == "another's\n");
    CHECK_FALSE(std::filesystem::exists(folder.file("absent")));
}

TEST_CASE("a file that is written again is replaced as a whole", "[tempinboxctl]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("ids", "a long old content\n");

    REQUIRE(write_text_file(file, "new\n"));

    CHECK(read_text_file(file).value() == "new\n");
    CHECK_FALSE(std::filesystem::exists(file + ".new"));
    CHECK(write_text_file(folder.file("no/ids"), "x").error().code == errc::invalid_argument);
}

TEST_CASE("a secret is the first line of its file", "[tempinboxctl]")
{
    const testing::scratch_folder folder;

    CHECK(read_secret_file(folder.write("a", "horse\r\nbattery\n")).value().reveal() == "horse");
    CHECK_FALSE(read_secret_file(folder.write("b", "\n")));
    CHECK_FALSE(read_secret_file(folder.file("absent")));
}
