#include "common/runtime/master_keys.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

std::string key_line(const std::string& id)
{
    return id + ":" + to_base64(crypto::sha256(id)) + "\n";
}

// The keys of a file, as a service has them.
struct watched_keys
{
    explicit watched_keys(const std::string& content)
        : keys(testing::test_host(), {crypto::keyring(), folder.write("keys", content)},
               [this] { ++changes; })
    {}

    void rewrite(const std::string& content) const
    {
        folder.write("keys", content);
        testing::test_host().files().check();
    }

    testing::scratch_folder folder;
    int changes = 0;
    runtime::master_keys keys;
};

bool shows(const std::string& series)
{
    return testing::test_host().metrics().text().find(series + "\n") != std::string::npos;
}

std::vector<std::string> problems_of(const std::string& file)
{
    config::reader reader({{"master-key-file", file}});
    runtime::read_master_key_settings(reader, "a test");
    return reader.problems();
}

} // namespace

TEST_CASE("a key is added, moved first, and the old one removed, without a restart",
          "[runtime][secrets]")
{
    watched_keys watched(key_line("old"));
    const auto& keys = watched.keys.current();
    const auto before = keys.seal(secret("s"), "c");

    watched.rewrite(key_line("old") + key_line("new"));
    CHECK(keys.current_key() == "old");
    CHECK(shows("tempinbox_master_key_position{key=\"new\"} 2"));

    watched.rewrite(key_line("new") + key_line("old"));
    CHECK(keys.current_key() == "new");
    CHECK(keys.open(before, "c").value().reveal() == "s");
    const auto after = keys.seal(secret("s"), "c");

    watched.rewrite(key_line("new"));
    CHECK(keys.open(after, "c").value().reveal() == "s");
    CHECK_FALSE(keys.open(before, "c"));
    CHECK(shows("tempinbox_master_key_position{key=\"new\"} 1"));
    CHECK(shows("tempinbox_master_key_position{key=\"old\"} 0"));
    CHECK(watched.changes == 3);
}

TEST_CASE("a file without a readable keyring leaves the old one in use", "[runtime][secrets]")
{
    watched_keys watched(key_line("kept"));

    for (const auto& rubbish : {std::string(), std::string("kept:half of a key\n"),
                                key_line("kept") + key_line("kept"), std::string(2'000'000, 'x')}) {
        watched.rewrite(rubbish);
        CHECK(watched.keys.current().current_key() == "kept");
        CHECK(shows("tempinbox_files_current{setting=\"master-key-file\"} 0"));
    }
    std::filesystem::remove(watched.folder.file("keys"));
    testing::test_host().files().check();
    CHECK(watched.keys.current().current_key() == "kept");
    CHECK(watched.changes == 0);

    watched.rewrite(key_line("next"));
    CHECK(watched.keys.current().current_key() == "next");
    CHECK(shows("tempinbox_files_current{setting=\"master-key-file\"} 1"));
}

TEST_CASE("keys without a file stay as they are", "[runtime][secrets]")
{
    const runtime::master_keys keys(testing::test_host(),
                                    {crypto::keyring::parse(key_line("own")).value(), {}});

    CHECK(keys.current().current_key() == "own");
}

TEST_CASE("a master key file must be set and hold a key", "[runtime][settings]")
{
    const testing::scratch_folder folder;

    CHECK(problems_of(folder.write("good", key_line("a"))).empty());
    CHECK_THAT(problems_of("").at(0), Contains("must be set"));
    CHECK(problems_of(folder.file("absent")).size() == 1);
    CHECK_THAT(problems_of(folder.write("bad", "hidden")).at(0),
               Contains("line 1") && !Contains("hidden"));
}
