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

TEST_CASE("without brokers the timeout ends the wait", "[kafka]")
{
    kafka::settings nowhere;
    nowhere.brokers = "127.0.0.1:1";
    kafka::topic_spec spec;
    spec.name = "t";
    const auto outcome = kafka::apply_topics(nowhere, {spec}, 500ms);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::unavailable);
}

TEST_CASE("how long a topic keeps its records is known", "[kafka]")
{
    const auto cluster = testing::test_cluster();
    const auto base = testing::scratch_topic("kept", 1);
    const std::vector<kafka::topic_spec> specs{
        {base + ".hour", 1, 1, {{"retention.ms", "3600000"}}},
        {base + ".bytes", 1, 1, {{"retention.ms", "-1"}, {"retention.bytes", "1000000"}}},
        {base + ".compact", 1, 1, {{"cleanup.policy", "compact"}}}};
    kafka::apply_topics(cluster, specs, 20s).value();

    const auto hour = kafka::find_retention(cluster, specs[0].name, 20s).value();
    CHECK(hour.time == 1h);
    CHECK_FALSE(hour.is_bounded_by_size);
    const auto bytes = kafka::find_retention(cluster, specs[1].name, 20s).value();
    CHECK_FALSE(bytes.time);
    CHECK(bytes.is_bounded_by_size);
    CHECK_FALSE(kafka::find_retention(cluster, specs[2].name, 20s).value().time);
    const auto missing = kafka::find_retention(cluster, base + ".missing", 20s);
    CHECK(missing.error().code == errc::not_found);
}

TEST_CASE("settings of a topic that is there are altered, others stay", "[kafka]")
{
    kafka::topic_spec spec;
    spec.name = testing::scratch_topic("altered", 1);
    const auto cluster = testing::test_cluster();
    // An operator may have set these.
    spec.config = {{"max.message.bytes", "2000000"}, {"retention.ms", "86400000"}};
    REQUIRE(kafka::apply_topics(cluster, {spec}, 20s));

    spec.config = {{"retention.ms", "259200000"}, {"segment.ms", "64800000"}};
    const auto before = kafka::compare_topics(cluster, {spec}, 20s).value();
    REQUIRE(before.size() == 2);
    CHECK(before[0].setting == "retention.ms");
    CHECK(before[0].found == "86400000");
    CHECK(before[0].wanted == "259200000");
    REQUIRE(kafka::apply_topics(cluster, {spec}, 20s));

    CHECK(testing::eventually(
        [&] { return kafka::compare_topics(cluster, {spec}, 20s).value().empty(); }));
    spec.config = {{"max.message.bytes", "2000000"}};
    CHECK(kafka::compare_topics(cluster, {spec}, 20s).value().empty());
}

TEST_CASE("partitions are added only where that is asked for", "[kafka]")
{
    kafka::topic_spec spec;
    spec.name = testing::scratch_topic("grown", 2);
    spec.partitions = 5;
    spec.config = {{"retention.ms", "1000000"}};
    const auto cluster = testing::test_cluster();

    const auto refused = kafka::apply_topics(cluster, {spec}, 20s);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::conflict);
    CHECK(refused.error().message.find(spec.name + " (2, not 5)") != std::string::npos);
    CHECK(refused.error().message.find("move keys") != std::string::npos);
    CHECK(kafka::compare_topics(cluster, {spec}, 20s).value().size() == 2);

    REQUIRE(kafka::apply_topics(cluster, {spec}, 20s, kafka::repartitioning::allowed));
    CHECK(testing::eventually(
        [&] { return kafka::compare_topics(cluster, {spec}, 20s).value().empty(); }));

    // Never fewer.
    spec.partitions = 3;
    REQUIRE(kafka::apply_topics(cluster, {spec}, 20s, kafka::repartitioning::allowed));
    const auto left = kafka::compare_topics(cluster, {spec}, 20s).value();
    REQUIRE(left.size() == 1);
    CHECK(left[0].what == kafka::topic_difference::kind::more_partitions);
}

TEST_CASE("a topic that is not there differs", "[kafka]")
{
    kafka::topic_spec spec;
    spec.name = "tempinbox-test-nowhere";
    const auto found = kafka::compare_topics(testing::test_cluster(), {spec}, 20s).value();
    REQUIRE(found.size() == 1);
    CHECK(found[0].what == kafka::topic_difference::kind::missing);
}
