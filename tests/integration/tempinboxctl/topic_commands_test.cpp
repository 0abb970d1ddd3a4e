#include "tempinboxctl/program.hpp"

#include "integration/common/kafka/sent.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

int run(std::vector<std::string> words)
{
    words.insert(words.begin(), "tempinboxctl");
    words.push_back("--kafka-brokers=" + testing::test_brokers());
    std::vector<const char*> argv;
    for (const auto& word : words)
        argv.push_back(word.c_str());
    return ctl::run(static_cast<int>(argv.size()), argv.data());
}

} // namespace

TEST_CASE(
    "topics apply --check changes nothing and says by its exit code whether something differs",
    "[tempinboxctl][kafka]")
{
    const auto topic = testing::scratch_topic("checked", 2);
    testing::scratch_folder folder;
    const auto file = folder.write(
        "topics.json", R"({"topics":[{"name":")" + topic +
                           R"(","partitions":2,"config":{"retention.ms":"7200000"}}]})");

    CHECK(run({"topics", "apply", file, "--check"}) == 1);
    CHECK(run({"topics", "apply", file, "--check"}) == 1);
    CHECK(run({"topics", "apply", file}) == 0);
    CHECK(testing::eventually([&] { return run({"topics", "apply", file, "--check"}) == 0; }));

    CHECK(run({"topics", "apply", file, "--partitions", "4"}) == 1);
    CHECK(run({"topics", "apply", file, "--partitions", "4", "--repartition"}) == 0);
    CHECK(testing::eventually(
        [&] { return run({"topics", "apply", file, "--partitions", "4", "--check"}) == 0; }));
}

TEST_CASE("topics apply puts the prefix before the names of the file", "[tempinboxctl][kafka]")
{
    const auto topic = testing::scratch_topic("plain", 1);
    testing::scratch_folder folder;
    const auto file =
        folder.write("topics.json", R"({"topics":[{"name":")" + topic + R"(","partitions":1}]})");

    CHECK(run({"topics", "apply", file, "--check", "--kafka-prefix", "ctl."}) == 1);
    CHECK(run({"topics", "apply", file, "--kafka-prefix", "ctl."}) == 0);

    CHECK(testing::eventually(
        [&] { return run({"topics", "apply", file, "--check", "--kafka-prefix", "ctl."}) == 0; }));
    testing::send_all("ctl." + topic, {{"key", "value"}});
}
