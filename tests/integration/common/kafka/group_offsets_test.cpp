#include "common/kafka/group_offsets.hpp"

#include "common/kafka/consumer.hpp"
#include "common/kafka/topics.hpp"
#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

constexpr auto timeout = 30s;

time_point now()
{
    return system_clock_source{}.now();
}

std::string make_topic(const std::string& prefix)
{
    kafka::topic_spec spec;
    spec.name = testing::scratch_topic(prefix, 1);
    kafka::apply_topics(testing::test_cluster(), {spec}, 30s).value();
    return spec.name;
}

// Records have times in milliseconds: a moment that no record shares.
time_point moment_between()
{
    const auto chosen = now() + 2ms;
    testing::eventually([&] { return now() > chosen + 2ms; });
    return chosen;
}

std::vector<std::string> read_values(const std::string& topic, std::optional<time_point> since,
                                     std::size_t limit)
{
    kafka::bounded_reader reader(testing::test_cluster(), topic, since, timeout);
    std::vector<std::string> values;
    for (;;) {
        const auto batch = reader.read(limit).value();
        if (batch.empty())
            return values;
        if (batch.size() > limit)
            throw std::logic_error("more records than the limit");
        for (const auto& one : batch)
            values.push_back(one.value);
    }
}

} // namespace

TEST_CASE("a topic is read from a moment to its end, in batches", "[kafka]")
{
    const auto topic = make_topic("since");
    testing::send_all(topic, {{"k", "1"}, {"k", "2"}});
    const auto moment = moment_between();
    testing::send_all(topic, {{"k", "3"}, {"k", "4"}, {"k", "5"}});

    CHECK(read_values(topic, std::nullopt, 2) == std::vector<std::string>{"1", "2", "3", "4", "5"});
    CHECK(read_values(topic, moment, 2) == std::vector<std::string>{"3", "4", "5"});
    CHECK(read_values(topic, now() + 1h, 2).empty());
}

TEST_CASE("a topic that is missing is a failure with its name", "[kafka]")
{
    kafka::bounded_reader reader(testing::test_cluster(), "since.missing", std::nullopt, 1s);

    const auto outcome = reader.read(10);

    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::unavailable);
    CHECK(outcome.error().message.find("since.missing") != std::string::npos);
}

TEST_CASE("a group without members is set back to a moment", "[kafka]")
{
    const auto topic = make_topic("group");
    const auto group = "group." + topic;
    testing::send_all(topic, {{"k", "1"}, {"k", "2"}});
    const auto moment = moment_between();
    testing::send_all(topic, {{"k", "3"}});
    const auto cluster = testing::test_cluster();
    const auto find = [&] {
        return kafka::find_group_positions(cluster, group, {topic}, moment, timeout).value();
    };
    CHECK(find().empty()); // it never committed
    kafka::group_position end;
    end.topic = topic;
    end.at_time = 3;
    REQUIRE(kafka::set_group_positions(cluster, group, {end}, timeout));

    const auto found = find();
    REQUIRE(found.size() == 1);
    CHECK(found.front().committed == 3);
    CHECK(found.front().at_time == 2);
    REQUIRE(kafka::set_group_positions(cluster, group, found, timeout));
    CHECK(find().front().committed == 2);
}

TEST_CASE("groups and topics with a prefix are read and set back by their names in kafka",
          "[kafka]")
{
    auto cluster = testing::test_cluster();
    cluster.prefix = "restored.";
    kafka::topic_spec spec;
    spec.name = testing::scratch_topic("prefixed", 1);
    kafka::apply_topics(cluster, {spec}, 30s).value();
    // The topic of the same name without the prefix is another one.
    testing::send_all(spec.name, {{"k", "of another"}});
    testing::send_all(spec.name, {{"k", "1"}, {"k", "2"}}, cluster);
    kafka::group_position end;
    end.topic = "restored." + spec.name;
    end.at_time = 2;
    REQUIRE(kafka::set_group_positions(cluster, "group", {end}, timeout));

    const auto found =
        kafka::find_group_positions(cluster, "group", {spec.name}, now() - 1h, timeout).value();
    REQUIRE(found.size() == 1);
    CHECK(found.front().topic == "restored." + spec.name);
    CHECK(found.front().committed == 2);
    CHECK(found.front().at_time == 0);

    kafka::bounded_reader reader(cluster, spec.name, std::nullopt, timeout);
    const auto records = reader.read(10).value();
    REQUIRE(records.size() == 2);
    CHECK(records.front().topic == spec.name);
    CHECK(records.front().value == "1");
}

TEST_CASE("a group with members is left alone", "[kafka]")
{
    const auto topic = make_topic("members");
    const auto group = "group." + topic;
    const auto cluster = testing::test_cluster();
    kafka::consumer_settings chosen;
    chosen.cluster = cluster;
    chosen.group = group;
    chosen.topics = {topic};
    kafka::consumer member(testing::test_host(), chosen,
                           [](const std::vector<kafka::record>&) -> awaitable<void> { co_return; });
    member.start();
    REQUIRE(testing::eventually(
        [&] { return kafka::count_group_members(cluster, group, timeout).value() == 1; }, 30s));
    kafka::group_position end;
    end.topic = topic;

    const auto refused = kafka::set_group_positions(cluster, group, {end}, timeout);
    testing::await(member.stop(), 30s);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::conflict);
}
