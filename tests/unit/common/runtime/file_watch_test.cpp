#include "common/runtime/file_watch.hpp"

#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

// Puts a one-line file to use.
struct password_user
{
    std::string file;
    std::string in_use;

    void load() { in_use = runtime::read_one_line(file); }
};

double current(const std::string& setting)
{
    return testing::test_host()
        .metrics()
        .gauge("tempinbox_files_current",
               "1 while the files of a setting are in use as they are, 0 while older content is "
               "used because they cannot be",
               {{"setting", setting}})
        .Value();
}

} // namespace

TEST_CASE("a watched file is put to use at once and after each change", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.write("password", "first\n"), {}};
    runtime::file_watch files(testing::test_host());
    files.watch("changed-file", {user.file}, [&user] { user.load(); });
    CHECK(user.in_use == "first");

    folder.write("password", "second\n");
    files.check();

    CHECK(user.in_use == "second");
    CHECK(current("changed-file") == 1);
}

TEST_CASE("a watched file that cannot be used leaves the old content", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.write("password", "first"), {}};
    runtime::file_watch files(testing::test_host());
    files.watch("broken-file", {user.file}, [&user] { user.load(); });

    folder.write("password", "");
    files.check();
    CHECK(user.in_use == "first");
    CHECK(current("broken-file") == 0);

    std::filesystem::remove(user.file);
    files.check();
    CHECK(user.in_use == "first");

    folder.write("password", "third");
    files.check();
    CHECK(user.in_use == "third");
    CHECK(current("broken-file") == 1);
}

TEST_CASE("a file that cannot be used is an error at the start", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.file("absent"), {}};
    runtime::file_watch files(testing::test_host());

    CHECK_THROWS_WITH(files.watch("absent-file", {user.file}, [&user] { user.load(); }),
                      Contains("cannot read"));
}

TEST_CASE("a changed file is noticed without being asked", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.write("password", "first"), {}};
    runtime::file_watch files(testing::test_host());
    files.watch("noticed-file", {user.file}, [&user] { user.load(); });
    files.start();

    folder.write("password", "second");

    CHECK(testing::eventually([&] { return user.in_use == "second"; }));
    testing::await(files.stop());
}

TEST_CASE("one line is read without its end, anything else is refused by name", "[runtime]")
{
    const testing::scratch_folder folder;
    CHECK(runtime::read_one_line(folder.write("plain", "secret")) == "secret");
    CHECK(runtime::read_one_line(folder.write("dos", " se cret \r\n")) == " se cret ");
    CHECK_THROWS_WITH(runtime::read_one_line(folder.write("empty", "\n")),
                      Contains("empty") && Contains("/empty"));
    CHECK_THROWS_WITH(runtime::read_one_line(folder.write("two", "hidden\nsecond\n")),
                      Contains("more than one line") && !Contains("hidden"));
    CHECK_THROWS_WITH(runtime::read_one_line(folder.write("long", std::string(5000, 'x'))),
                      Contains("4096"));
}
