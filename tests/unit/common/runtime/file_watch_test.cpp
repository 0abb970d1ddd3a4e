#include "common/runtime/file_watch.hpp"

#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

boost::asio::any_io_executor executor()
{
    return testing::test_host().executor();
}

metrics::registry& registry()
{
    return testing::test_host().metrics();
}

// Puts a one-line file to use.
struct password_user
{
    std::string file;
    std::string in_use;

    void load() { in_use = runtime::read_one_line(file); }
};

double current(const std::string& setting)
{
    return registry()
        .gauge(
            "tempinbox_files_current",
            "Whether the files of a setting are in use as they are (1), 0 while older content is "
            "used because they cannot be",
            {{"setting", setting}})
        .Value();
}

} // namespace

TEST_CASE("a watched file is put to use at once and after each change", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.write("password", "first\n"), {}};
    runtime::file_watch files(executor(), registry());
    const auto watched = files.watch("changed-file", {user.file}, [&user] { user.load(); });
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
    runtime::file_watch files(executor(), registry());
    const auto watched = files.watch("broken-file", {user.file}, [&user] { user.load(); });

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
    runtime::file_watch files(executor(), registry());

    CHECK_THROWS_WITH(
        static_cast<void>(files.watch("absent-file", {user.file}, [&user] { user.load(); })),
        Contains("cannot read"));
}

TEST_CASE("a changed file is noticed without being asked", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.write("password", "first"), {}};
    runtime::file_watch files(executor(), registry());
    const auto watched = files.watch("noticed-file", {user.file}, [&user] { user.load(); });
    files.start();

    folder.write("password", "second");

    CHECK(testing::eventually([&] { return user.in_use == "second"; }));
}

TEST_CASE("what nobody uses any more is not put to use", "[runtime]")
{
    const testing::scratch_folder folder;
    password_user user{folder.write("password", "first"), {}};
    runtime::file_watch files(executor(), registry());
    {
        auto moved_from = files.watch("ended-file", {user.file}, [&user] { user.load(); });
        const auto watched = std::move(moved_from);
    }

    folder.write("password", "second");
    files.check();

    CHECK(user.in_use == "first");
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

TEST_CASE("files that another file names are watched once it names them", "[runtime]")
{
    const testing::scratch_folder folder;
    const auto list = folder.write("list", "one");
    runtime::file_watch files(executor(), registry());
    std::vector<std::string> seen;
    runtime::file_watch::subscription watched;
    const auto load = [&] {
        const auto named = folder.file(runtime::read_one_line(list));
        watched.set_files({list, named});
        seen.push_back(runtime::read_one_line(named));
    };
    folder.write("one", "1");
    watched = files.watch("naming-file", {list, folder.file("one")}, load);

    folder.write("list", "two");
    files.check();
    CHECK(current("naming-file") == 0);
    folder.write("two", "2");
    files.check();
    CHECK(current("naming-file") == 1);
    folder.write("one", "1 again");
    files.check();

    CHECK(seen == std::vector<std::string>{"1", "2"});
}
