#include "common/kafka/names.hpp"

#include "common/kafka/topics.hpp"
#include "integration/common/kafka/collected.hpp"
#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// An installation that shares the brokers with others, with one topic of its own.
struct installation
{
    kafka::settings cluster = testing::test_cluster();
    std::vector<std::string> handled; // by its member of the group

    installation(std::string prefix, const std::string& topic)
    {
        cluster.prefix = std::move(prefix);
        kafka::topic_spec spec;
        spec.name = topic;
        spec.partitions = 2;
        if (!kafka::apply_topics(cluster, {spec}, 20s))
            throw std::runtime_error("the topic was not made");
    }

    std::unique_ptr<kafka::consumer> join(const std::string& group, const std::string& topic)
    {
        kafka::consumer_settings chosen;
        chosen.cluster = cluster;
        chosen.group = group;
        chosen.topics = {topic};
        auto member = std::make_unique<kafka::consumer>(
            testing::test_host(), chosen,
            [this](const std::vector<kafka::record>& batch) { return handle(batch); });
        member->start();
        return member;
    }

    awaitable<void> handle(const std::vector<kafka::record>& batch)
    {
        for (const auto& record : batch)
            handled.push_back(record.topic + " " + record.value);
        co_return;
    }
};

bool shows(const std::string& series)
{
    return testing::test_host().metrics().text().find("\n" + series) != std::string::npos;
}

} // namespace

TEST_CASE("two installations on one kafka do not see each other's events", "[kafka]")
{
    const auto topic = testing::scratch_topic("shared") + ".event";
    installation first("one.", topic), second("two.", topic);
    // The same names everywhere.
    const auto of_first = first.join(topic, topic);
    const auto of_second = second.join(topic, topic);
    testing::collected read_by_first(first.cluster, {topic});
    testing::collected read_by_second(second.cluster, {topic});

    testing::send_all(topic, {{"a", "1"}, {"b", "1"}, {"c", "1"}}, first.cluster);
    testing::send_all(topic, {{"a", "2"}, {"b", "2"}, {"c", "2"}}, second.cluster);

    CHECK(testing::eventually(
        [&] { return first.handled.size() == 3 && second.handled.size() == 3; }, 30s));
    REQUIRE(read_by_first.has(3));
    REQUIRE(read_by_second.has(3));
    CHECK(first.handled == std::vector<std::string>(3, topic + " 1"));
    CHECK(second.handled == std::vector<std::string>(3, topic + " 2"));
    CHECK(read_by_first.records()[0].topic == topic);
    CHECK(read_by_first.records()[0].value == "1");
    CHECK(read_by_second.records()[0].value == "2");
    testing::await(of_first->stop(), 30s);
    testing::await(of_second->stop(), 30s);
    CHECK(first.handled.size() + second.handled.size() == 6);
}

TEST_CASE("metrics name groups and topics as kafka does", "[kafka]")
{
    const auto topic = testing::scratch_topic("labels") + ".event";
    installation only("labelled.", topic);
    const auto member = only.join(topic, topic);
    testing::send_all(topic, {{"a", "1"}}, only.cluster);
    REQUIRE(testing::eventually([&] { return only.handled.size() == 1; }, 30s));

    CHECK(testing::eventually([&] {
        return shows("tempinbox_consumer_lag_records{group=\"labelled." + topic) &&
               shows("tempinbox_consumer_assigned_partitions{group=\"labelled." + topic) &&
               shows("messaging_process_duration_seconds_count{group=\"labelled." + topic);
    }));
    testing::await(member->stop(), 30s);
}

TEST_CASE("a member with a prefix goes on where its group stopped", "[kafka]")
{
    const auto topic = testing::scratch_topic("continued") + ".event";
    installation only("going-on.", topic);
    testing::send_all(topic, {{"a", "1"}, {"b", "2"}}, only.cluster);
    {
        const auto first = only.join(topic, topic);
        REQUIRE(testing::eventually([&] { return only.handled.size() == 2; }, 30s));
        testing::await(first->stop(), 30s);
    }
    only.handled.clear();
    testing::send_all(topic, {{"a", "3"}}, only.cluster);

    const auto second = only.join(topic, topic);

    REQUIRE(testing::eventually([&] { return !only.handled.empty(); }, 30s));
    CHECK(only.handled == std::vector<std::string>{topic + " 3"});
    testing::await(second->stop(), 30s);
}

TEST_CASE("differences of topics are told with the names in kafka", "[kafka]")
{
    auto cluster = testing::test_cluster();
    cluster.prefix = "compared.";
    kafka::topic_spec spec;
    spec.name = testing::scratch_topic("plain", 1);

    // The topic exists without the prefix only.
    const auto missing = kafka::compare_topics(cluster, {spec}, 20s);
    REQUIRE(missing);
    REQUIRE(missing->size() == 1);
    CHECK(missing->front().what == kafka::topic_difference::kind::missing);
    CHECK(missing->front().topic == "compared." + spec.name);

    REQUIRE(kafka::apply_topics(cluster, {spec}, 20s));
    CHECK(testing::eventually([&] {
        const auto left = kafka::compare_topics(cluster, {spec}, 20s);
        return left && left->empty();
    }));
}
