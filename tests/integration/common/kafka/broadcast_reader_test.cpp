#include "common/kafka/consumer.hpp"

#include "common/kafka/topics.hpp"
#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

struct listener
{
    std::vector<std::string> seen;
    kafka::broadcast_reader reader;

    explicit listener(const std::string& topic, kafka::settings cluster = testing::test_cluster())
        : reader(testing::test_host(), std::move(cluster), {topic},
                 [this](const std::vector<kafka::record>& batch) {
                     for (const auto& record : batch)
                         seen.push_back(record.value);
                 })
    {
        reader.start();
    }

    bool is_current()
    {
        return testing::eventually([this] { return reader.is_current(); });
    }
};

} // namespace

TEST_CASE("every reader sees what is written after it became current, and nothing older", "[kafka]")
{
    const auto topic = testing::scratch_topic("broadcast");
    testing::send_all(topic, {{"a", "old"}, {"b", "old"}, {"c", "old"}});
    listener first(topic), second(topic);
    REQUIRE(first.is_current());
    REQUIRE(second.is_current());

    testing::send_all(topic, {{"a", "new"}, {"b", "new"}});

    CHECK(testing::eventually([&] { return first.seen.size() == 2 && second.seen.size() == 2; }));
    CHECK(first.seen == std::vector<std::string>{"new", "new"});
    CHECK(second.seen == std::vector<std::string>{"new", "new"});
}

TEST_CASE("a reader from the beginning is current when it has read what there was", "[kafka]")
{
    const auto topic = testing::scratch_topic("whole");
    std::vector<std::pair<std::string, std::string>> pairs;
    for (int i = 0; i < 2'000; ++i)
        pairs.emplace_back(std::to_string(i), "x");
    testing::send_all(topic, pairs);
    std::size_t seen = 0;
    kafka::broadcast_reader reader(
        testing::test_host(), testing::test_cluster(), {topic},
        [&seen](const std::vector<kafka::record>& batch) { seen += batch.size(); }, true);
    reader.start();

    REQUIRE(testing::eventually([&] { return reader.is_current(); }));
    CHECK(seen == 2'000);
}

TEST_CASE("records of many partitions that have come are handled in one batch", "[kafka]")
{
    const auto topic = testing::scratch_topic("wide", 12);
    std::vector<std::pair<std::string, std::string>> pairs;
    for (int i = 0; i < 200; ++i)
        pairs.emplace_back(std::to_string(i), "x");
    testing::send_all(topic, pairs);
    std::size_t seen = 0, batches = 0;
    kafka::broadcast_reader reader(
        testing::test_host(), testing::test_cluster(), {topic},
        [&](const std::vector<kafka::record>& batch) {
            seen += batch.size();
            ++batches;
        },
        true);
    reader.start();

    REQUIRE(testing::eventually([&] { return seen == 200; }));
    CHECK(batches < 12);
}

TEST_CASE("a reader is not current while its topic is missing", "[kafka]")
{
    const auto topic = testing::scratch_topic("model") + ".late";
    listener early(topic);
    CHECK_FALSE(testing::eventually([&] { return early.reader.is_current(); }, 700ms));

    kafka::topic_spec spec;
    spec.name = topic;
    spec.partitions = 2;
    REQUIRE(kafka::apply_topics(testing::test_cluster(), {spec}, 20s));

    CHECK(early.is_current());
    testing::send_all(topic, {{"a", "new"}});
    CHECK(testing::eventually([&] { return early.seen.size() == 1; }));
}

TEST_CASE("a reader without brokers is not current, and stops all the same", "[kafka]")
{
    kafka::settings nowhere;
    nowhere.brokers = "127.0.0.1:1";
    listener lonely("t", nowhere);
    CHECK_FALSE(testing::eventually([&] { return lonely.reader.is_current(); }, 300ms));

    const auto start = std::chrono::steady_clock::now();
    lonely.reader.stop();
    CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a handler that throws does not end the reader", "[kafka]")
{
    const auto topic = testing::scratch_topic("thrown", 1);
    int batches = 0;
    kafka::broadcast_reader reader(testing::test_host(), testing::test_cluster(), {topic},
                                   [&batches](const std::vector<kafka::record>&) {
                                       if (++batches == 1)
                                           throw std::runtime_error("broken");
                                   });
    reader.start();
    REQUIRE(testing::eventually([&] { return reader.is_current(); }));

    testing::send_all(topic, {{"a", "1"}});
    REQUIRE(testing::eventually([&] { return batches == 1; }));
    testing::send_all(topic, {{"a", "2"}});

    CHECK(testing::eventually([&] { return batches == 2; }));
}
