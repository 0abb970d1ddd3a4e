#include "mail-ingest/ingest/spool.hpp"

#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <filesystem>

using namespace tempinbox;
using mail_ingest::spool;
using mail_ingest::spool_folder;

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kib = 1024;

// A spool folder with a budget of 100 KiB.
struct spool_world
{
    testing::scratch_folder scratch;
    std::string path = scratch.file("spool");
    memory_budget memory{64 * kib};
    spool_folder folder{testing::test_host(), path, 100 * kib};

    std::unique_ptr<spool> open() { return std::make_unique<spool>(memory, 8 * kib, folder); }
    bool is_all_given_back()
    {
        return testing::eventually(
            [&] { return folder.available() == 100 * kib && memory.used() == 0; });
    }
    // Files of this process in the folder.
    std::size_t open_files() const
    {
        std::size_t count = 0;
        for (const auto& one : fs::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            if (fs::read_symlink(one.path(), gone).native().starts_with(path + "/"))
                ++count;
        }
        return count;
    }
};

std::string text(std::size_t bytes)
{
    std::string whole;
    while (whole.size() < bytes)
        whole += std::to_string(whole.size()) + " ";
    whole.resize(bytes);
    return whole;
}

mode_t mode_of(const std::string& path)
{
    struct stat found = {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    return found.st_mode & 0777;
}

} // namespace

TEST_CASE("a message is read back as it came, from memory or from a file", "[mail-ingest][spool]")
{
    spool_world world;
    const auto size = GENERATE(0 * kib, 5 * kib, 8 * kib, 9 * kib, 90 * kib);
    const auto whole = text(size);
    auto message = world.open();

    for (std::size_t at = 0; at < size; at += 3 * kib) {
        REQUIRE(message->append(std::string_view(whole).substr(at, 3 * kib)));
        REQUIRE(testing::await(message->write()));
    }

    CHECK(testing::await(message->finish()));
    CHECK(message->bytes() == whole);
    message.reset();
    CHECK(world.is_all_given_back());
}

TEST_CASE("files of all messages share the room on the disk, small messages need none of it",
          "[mail-ingest][spool]")
{
    spool_world world;
    auto large = world.open();
    REQUIRE(large->append(text(80 * kib)));
    auto second = world.open();
    auto small = world.open();

    CHECK_FALSE(second->append(text(30 * kib)));
    CHECK(small->append(text(4 * kib)));
    second.reset();

    large.reset();
    REQUIRE(testing::eventually([&] { return world.folder.available() == 100 * kib; }));
    CHECK(world.open()->append(text(90 * kib)));
}

TEST_CASE("a file counts what was in memory before it", "[mail-ingest][spool]")
{
    spool_world world;
    auto message = world.open();

    message->append(text(8 * kib));
    CHECK(world.folder.available() == 100 * kib);
    message->append("x");

    CHECK(world.folder.available() == 92 * kib - 1);
}

TEST_CASE("the loop does not write what arrives, nor make the file", "[mail-ingest][spool]")
{
    spool_world world;
    auto message = world.open();

    REQUIRE(message->append(text(20 * kib)));
    CHECK(world.open_files() == 0);
    CHECK(world.memory.used() == 20 * kib);

    CHECK(testing::await(message->write()));
    CHECK(world.open_files() == 1);
    CHECK(world.memory.used() == 0);

    message.reset();
    CHECK(testing::eventually([&] { return world.open_files() == 0; }));
}

TEST_CASE("where the memory of all is used up what arrives is written at once",
          "[mail-ingest][spool]")
{
    spool_world world;
    memory_budget::reservation taken(world.memory);
    REQUIRE(taken.grow(64 * kib));
    auto message = world.open();

    REQUIRE(message->append(text(20 * kib)));
    CHECK(world.open_files() == 1);

    CHECK(testing::await(message->finish()));
    CHECK(message->bytes() == text(20 * kib));
}

TEST_CASE("a disk that takes nothing loses the message and no more", "[mail-ingest][spool]")
{
    spool_world world;
    auto message = world.open();
    REQUIRE(message->append(text(20 * kib)));
    fs::remove(world.path);

    CHECK_FALSE(testing::await(message->write()));

    message.reset();
    CHECK(world.is_all_given_back());
}

TEST_CASE(
    "the spool's folder is its own: made for nobody else, emptied of what a dead process left",
    "[mail-ingest][spool]")
{
    testing::scratch_folder scratch;
    const auto path = scratch.file("spool");
    const auto open = [&](const std::string& where) {
        return spool_folder(testing::test_host(), where, 0).available();
    };

    SECTION("one that is not there is made")
    {
        open(path + "/");
        CHECK(mode_of(path) == 0700);
    }
    SECTION("leftovers go, other files stay")
    {
        fs::create_directory(path);
        fs::permissions(path, fs::perms::owner_all);
        scratch.write("spool/tempinbox-mail-a1b2c3", "half a message");
        scratch.write("spool/note", "the operator's");

        open(path);

        CHECK_FALSE(fs::exists(path + "/tempinbox-mail-a1b2c3"));
        CHECK(fs::exists(path + "/note"));
    }
    SECTION("one that others may write to is not taken")
    {
        fs::create_directory(path);
        fs::permissions(path, fs::perms::all);
        CHECK_THROWS_WITH(open(path), Catch::Contains(path) && Catch::Contains("alone"));
    }
    SECTION("nor a link to one")
    {
        fs::create_directory(scratch.file("elsewhere"));
        fs::create_symlink(scratch.file("elsewhere"), path);
        CHECK_THROWS_WITH(open(path + "/"), Catch::Contains("alone"));
    }
    SECTION("one that cannot be created is named")
    {
        CHECK_THROWS_WITH(open(path + "/a/b"), Catch::Contains(path + "/a/b cannot be created"));
    }
}
