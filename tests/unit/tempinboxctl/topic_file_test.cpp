#include "tempinboxctl/topic_file.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

constexpr const char* file =
    R"({"topics":[{"name":"a","partitions":48,"config":{"retention.ms":"1"}},{"name":"b","replication":2}]})";

} // namespace

TEST_CASE("topics are read with their partitions, copies and configuration", "[tempinboxctl]")
{
    const auto topics = read_topics(file, {}).value();

    REQUIRE(topics.size() == 2);
    CHECK(topics[0].name == "a");
    CHECK(topics[0].partitions == 48);
    CHECK(topics[0].replication == 1);
    CHECK(topics[0].config == std::map<std::string, std::string>{{"retention.ms", "1"}});
    CHECK(topics[1].partitions == 1);
    CHECK(topics[1].replication == 2);
}

TEST_CASE("what the command line says wins, and three copies bring two in sync", "[tempinboxctl]")
{
    topic_overrides overrides;
    overrides.partitions = 12;
    overrides.replication = 3;

    const auto topics = read_topics(file, overrides).value();

    CHECK(topics[0].partitions == 12);
    CHECK(topics[1].replication == 3);
    CHECK(topics[1].config.at("min.insync.replicas") == "2");
}

TEST_CASE("a topic with fixed partitions keeps them", "[tempinboxctl]")
{
    topic_overrides overrides;
    overrides.partitions = 12;

    const auto topics = read_topics(
        R"({"topics":[{"name":"a","partitions":4,"fixedPartitions":true},{"name":"b"}]})",
        overrides);

    CHECK(topics.value()[0].partitions == 4);
    CHECK(topics.value()[1].partitions == 12);
    CHECK(read_topics(R"({"topics":[{"name":"a","fixedPartitions":1}]})", {})
              .error()
              .message.starts_with("topic 1: fixedPartitions"));
}

TEST_CASE("a bad file says which topic is wrong", "[tempinboxctl]")
{
    CHECK_FALSE(read_topics("", {}));
    CHECK_FALSE(read_topics("{", {}));
    CHECK_FALSE(read_topics(R"({"topics":[]})", {}));
    CHECK_FALSE(read_topics(R"({"topic":[{"name":"a"}]})", {}));
    CHECK(read_topics(R"({"topics":[{"name":"a"},{"partitions":1}]})", {})
              .error()
              .message.starts_with("topic 2: name"));
    CHECK(read_topics(R"({"topics":[{"name":"a","partitions":0}]})", {})
              .error()
              .message.starts_with("topic 1: partitions"));
}

TEST_CASE("without a file the topics are those of the release", "[tempinboxctl]")
{
    topic_overrides overrides;
    overrides.partitions = 12;

    const auto topics = read_topic_file(std::nullopt, overrides);

    REQUIRE(topics);
    REQUIRE(topics->size() == 10);
    CHECK(topics->front().name == "email.received");
    CHECK(topics->front().partitions == 12);
    CHECK_FALSE(read_topic_file("/nowhere.json", overrides));
}
