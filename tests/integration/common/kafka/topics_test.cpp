#include "common/kafka/topics.hpp"

#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

TEST_CASE("topics are created once, with their settings", "[kafka]")
{
    const auto base = testing::scratch_topic("applied", 1);
    kafka::topic_spec first, second;
    first.name = base + ".one";
    first.partitions = 3;
    first.config = {{"cleanup.policy", "compact"}};
    second.name = base + ".two";

    CHECK(kafka::apply_topics(testing::test_cluster(), {first, second}, 20s));
    CHECK(kafka::apply_topics(testing::test_cluster(), {first, second}, 20s));
    testing::send_all(first.name, {{"a", "b"}});
}

TEST_CASE("a topic that cannot be is refused with its name", "[kafka]")
{
    kafka::topic_spec bad;
    bad.name = "not a name!";
    const auto outcome = kafka::apply_topics(testing::test_cluster(), {bad}, 20s);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("not a name!") != std::string::npos);
}

TEST_CASE("without brokers the patience ends", "[kafka]")
{
    kafka::settings nowhere;
    nowhere.brokers = "127.0.0.1:1";
    kafka::topic_spec spec;
    spec.name = "t";
    const auto outcome = kafka::apply_topics(nowhere, {spec}, 500ms);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::unavailable);
}
