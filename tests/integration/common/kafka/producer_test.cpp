#include "common/kafka/producer.hpp"

#include "common/kafka/schema_ids.hpp"
#include "integration/common/kafka/collected.hpp"
#include "integration/common/kafka/sent.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

kafka::message make_message(const std::string& topic, std::string key, std::string value)
{
    kafka::message made;
    made.topic = topic;
    made.key = std::move(key);
    made.value = std::move(value);
    return made;
}

kafka::settings nowhere()
{
    kafka::settings cluster;
    cluster.brokers = "127.0.0.1:1";
    cluster.properties = {{"delivery.timeout.ms", "700"}};
    return cluster;
}

} // namespace

TEST_CASE("what is sent arrives whole: key, value, headers, tombstones", "[kafka]")
{
    const auto topic = testing::scratch_topic("sent");
    kafka::producer producer(testing::test_host(), testing::test_cluster());
    int acknowledged = 0;
    const auto count = [&acknowledged](bool is_acknowledged) {
        acknowledged += is_acknowledged ? 1 : 0;
    };
    const std::string binary("\0\xff\n\x01", 4);

    auto message = make_message(topic, "key", binary);
    message.headers = {{"ce_id", "1"}, {"empty", ""}};
    REQUIRE(producer.send(message, count));
    auto tombstone = make_message(topic, "key", "");
    tombstone.is_tombstone = true;
    REQUIRE(producer.send(tombstone, count));
    REQUIRE(producer.send(make_message(topic, "key", ""), count));

    REQUIRE(testing::eventually([&] { return acknowledged == 3; }));
    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(3));
    CHECK(found.records()[0].key == "key");
    CHECK(found.records()[0].value == binary);
    CHECK(found.records()[0].headers == message.headers);
    CHECK(found.records()[0].timestamp_millis > 1'600'000'000'000);
    CHECK(found.records()[1].is_tombstone);
    CHECK_FALSE(found.records()[2].is_tombstone);
    CHECK(found.records()[2].value.empty());
}

TEST_CASE("values of a topic whose schema is published carry its id, and no other record does",
          "[kafka]")
{
    const auto topic = testing::scratch_topic("schemas");
    const auto other = testing::scratch_topic("no-schemas");
    const testing::scratch_folder folder;
    kafka::published_schema schema;
    schema.topic = topic;
    schema.subject = topic + "-value";
    schema.guid = uuid::make_v7();
    auto cluster = testing::test_cluster();
    cluster.schema_ids_file = folder.write("ids", kafka::to_json({schema}));
    kafka::producer producer(testing::test_host(), cluster);
    int acknowledged = 0;
    const auto count = [&acknowledged](bool is_acknowledged) {
        acknowledged += is_acknowledged ? 1 : 0;
    };

    REQUIRE(producer.send(make_message(topic, "key", "value"), count));
    auto tombstone = make_message(topic, "key", "");
    tombstone.is_tombstone = true;
    REQUIRE(producer.send(tombstone, count));
    auto replayed = make_message(topic, "key", "value");
    replayed.headers = {{kafka::schema_id_header, "its own"}};
    REQUIRE(producer.send(replayed, count));
    REQUIRE(producer.send(make_message(other, "key", "value"), count));

    REQUIRE(testing::eventually([&] { return acknowledged == 4; }));
    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(3));
    const kafka::header_list with_id{{kafka::schema_id_header, kafka::schema_id_of(schema)}};
    CHECK(found.records()[0].headers == with_id);
    CHECK(found.records()[0].value == "value");
    CHECK(found.records()[1].headers.empty());
    CHECK(found.records()[2].headers == replayed.headers);
    testing::collected without(testing::test_cluster(), {other});
    REQUIRE(without.has(1));
    CHECK(without.records()[0].headers.empty());
}

TEST_CASE("messages of one key keep their order", "[kafka]")
{
    const auto topic = testing::scratch_topic("ordered", 4);
    std::vector<std::pair<std::string, std::string>> pairs;
    for (int i = 0; i < 1'000; ++i)
        pairs.emplace_back("key " + std::to_string(i % 7), std::to_string(i));

    testing::send_all(topic, pairs);

    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(1'000));
    std::map<std::string, int> last;
    for (const auto& record : found.records()) {
        const auto number = std::stoi(record.value);
        const auto [known, is_first] = last.try_emplace(record.key, number);
        CHECK((is_first || known->second < number));
        known->second = number;
    }
}

TEST_CASE("without a broker a message is reported as not acknowledged, also in health", "[kafka]")
{
    runtime::host host("lonely", runtime::process_settings{});
    kafka::producer producer(host, nowhere());
    std::optional<bool> outcome;

    REQUIRE(producer.send(make_message("t", "k", "v"),
                          [&outcome](bool is_acknowledged) { outcome = is_acknowledged; }));
    CHECK(testing::eventually([&] {
        host.loop().restart();
        host.loop().poll();
        return outcome.has_value();
    }));

    CHECK(outcome == false);
    CHECK_FALSE(host.health().is_ready());
    CHECK(host.health().json().find("\"waiting\":{\"kafka\":\"") != std::string::npos);
}

TEST_CASE("health meets kafka once it answered", "[kafka]")
{
    runtime::host host("early", runtime::process_settings{});
    kafka::producer producer(host, testing::test_cluster());
    CHECK(testing::eventually([&] { return host.health().is_ready(); }));
}

TEST_CASE("a topic that does not exist is not made by accident", "[kafka]")
{
    auto cluster = testing::test_cluster();
    cluster.properties = {{"delivery.timeout.ms", "1500"}};
    kafka::producer producer(testing::test_host(), cluster);
    std::optional<bool> outcome;

    REQUIRE(producer.send(make_message("nobody.made.this", "k", "v"),
                          [&outcome](bool is_acknowledged) { outcome = is_acknowledged; }));

    REQUIRE(testing::eventually([&] { return outcome.has_value(); }));
    CHECK(outcome == false);
}

TEST_CASE("a full queue refuses, and takes messages again later", "[kafka]")
{
    const auto topic = testing::scratch_topic("full");
    auto cluster = testing::test_cluster();
    cluster.properties = {{"queue.buffering.max.messages", "10"}};
    kafka::producer producer(testing::test_host(), cluster);
    std::size_t outcomes = 0, queued = 0;

    for (int i = 0; i < 1'000; ++i)
        queued +=
            producer.send(make_message(topic, "k", "v"), [&outcomes](bool) { ++outcomes; }) ? 1 : 0;
    CHECK(queued >= 10);
    CHECK(queued < 1'000);
    CHECK(testing::eventually([&] { return outcomes == queued; }));

    CHECK(producer.send(make_message(topic, "k", "v"), [&outcomes](bool) { ++outcomes; }));
    CHECK(testing::eventually([&] { return outcomes == queued + 1; }));
}

TEST_CASE("a message too large is refused", "[kafka]")
{
    kafka::producer producer(testing::test_host(), testing::test_cluster());
    CHECK_FALSE(producer.send(make_message("t", "k", std::string(2'000'000, 'x')), [](bool) {}));
}

TEST_CASE("flush waits for what is queued", "[kafka]")
{
    const auto topic = testing::scratch_topic("flushed");
    kafka::producer producer(testing::test_host(), testing::test_cluster());
    int outcomes = 0;
    for (int i = 0; i < 100; ++i)
        REQUIRE(producer.send(make_message(topic, "k", "v"), [&outcomes](bool) { ++outcomes; }));

    testing::await(producer.flush(10s));

    CHECK(outcomes == 100);
}

TEST_CASE("flush gives up when its timeout ends", "[kafka]")
{
    auto cluster = nowhere();
    cluster.properties = {{"delivery.timeout.ms", "20000"}};
    kafka::producer producer(testing::test_host(), cluster);
    REQUIRE(producer.send(make_message("t", "k", "v"), [](bool) {}));

    const auto start = std::chrono::steady_clock::now();
    testing::await(producer.flush(300ms));

    CHECK(std::chrono::steady_clock::now() - start < 3s);
}
