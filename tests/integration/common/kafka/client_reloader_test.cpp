#include "common/kafka/client_reloader.hpp"

#include "integration/common/kafka/collected.hpp"
#include "integration/common/kafka/sent.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// No client can speak so to the brokers of the tests.
constexpr const char* unusable = "security.protocol=ssl\n";

// The brokers of the tests with a properties file that a test changes.
class changing_cluster
{
public:
    explicit changing_cluster(const std::string& properties)
    {
        settings.properties_file = folder_.write("properties", properties);
        settings.properties = kafka::read_properties(settings.properties_file);
    }
    void change(const std::string& properties) const
    {
        folder_.write("properties", properties);
        testing::test_host().files().check();
    }

    kafka::settings settings = testing::test_cluster();

private:
    testing::scratch_folder folder_;
};

// Sends numbered messages of seven keys, and counts what becomes of them.
class numbered_sender
{
public:
    numbered_sender(kafka::producer& producer, std::string topic)
        : producer_(producer),
          topic_(std::move(topic))
    {}

    // Whether all were taken.
    bool send(int count)
    {
        const int end = next + count;
        while (next < end) {
            kafka::message message;
            message.topic = topic_;
            message.key = "key " + std::to_string(next % 7);
            message.value = std::to_string(next);
            if (!producer_.send(std::move(message), [this](bool is_acknowledged) {
                    ++(is_acknowledged ? acknowledged : refused);
                }))
                return false;
            ++next;
        }
        return true;
    }

    int next = 0;
    int acknowledged = 0;
    int refused = 0;

private:
    kafka::producer& producer_;
    std::string topic_;
};

// Every number once, those of a key in their order.
void check_whole_and_ordered(const std::vector<kafka::record>& records, int count)
{
    CHECK(records.size() == static_cast<std::size_t>(count));
    std::map<std::string, int> last;
    for (const auto& record : records) {
        const auto number = std::stoi(record.value);
        const auto [known, is_first] = last.try_emplace(record.key, number);
        CHECK((is_first || known->second + 7 == number));
        CHECK((!is_first || number < 7));
        known->second = number;
    }
}

struct member
{
    std::vector<kafka::record> handled;
    int failures_left = 0;
    kafka::consumer consumer;

    member(const kafka::settings& cluster, const std::string& topic)
        : consumer(testing::test_host(), {cluster, topic, {topic}, 500, 100ms},
                   [this](const std::vector<kafka::record>& batch) { return handle(batch); })
    {
        consumer.start();
    }

    awaitable<void> handle(const std::vector<kafka::record>& batch)
    {
        if (failures_left > 0) {
            --failures_left;
            throw dependency_error("the database is away");
        }
        handled.insert(handled.end(), batch.begin(), batch.end());
        co_return;
    }
    bool has_handled(int count)
    {
        return testing::eventually(
            [&] { return handled.size() >= static_cast<std::size_t>(count); }, 30s);
    }
    double joined() const
    {
        return testing::test_host()
            .metrics()
            .counter("tempinbox_consumer_rebalances_total",
                     "Times that the member was assigned other partitions",
                     {{"group", handled.front().topic}})
            .Value();
    }
};

} // namespace

TEST_CASE("a producer goes on with changed properties: nothing lost, keys in order", "[kafka]")
{
    const auto topic = testing::scratch_topic("renewed", 4);
    const changing_cluster cluster("linger.ms=0.5\n");
    kafka::producer producer(testing::test_host(), cluster.settings);
    numbered_sender sender(producer, topic);

    // Changed while the queue is full of messages, and while others come.
    for (int change = 1; change <= 3; ++change) {
        REQUIRE(sender.send(2'000));
        cluster.change("linger.ms=" + std::to_string(change) + "\n");
        REQUIRE(sender.send(2'000));
        REQUIRE(testing::eventually([&] { return sender.acknowledged > sender.next - 2'000; }));
    }

    REQUIRE(testing::eventually([&] { return sender.acknowledged + sender.refused == sender.next; },
                                30s));
    CHECK(sender.refused == 0);
    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(static_cast<std::size_t>(sender.next)));
    REQUIRE(found.has_all());
    check_whole_and_ordered(found.records(), sender.next);
}

TEST_CASE("a producer sends with the new properties once the old ones fail", "[kafka]")
{
    const auto topic = testing::scratch_topic("cured", 1);
    const changing_cluster cluster(unusable);
    kafka::producer producer(testing::test_host(), cluster.settings);
    numbered_sender sender(producer, topic);
    REQUIRE(sender.send(1));

    cluster.change("security.protocol=plaintext\n");

    // What the old client has is refused when its time is over; what is held then arrives.
    REQUIRE(testing::eventually([&] { return sender.send(1) && sender.acknowledged > 0; }, 25s));
    REQUIRE(testing::eventually([&] { return sender.acknowledged + sender.refused == sender.next; },
                                25s));
    CHECK(sender.refused > 0);
    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(static_cast<std::size_t>(sender.acknowledged)));
    REQUIRE(found.has_all());
    CHECK(std::stoi(found.records().front().value) == sender.refused);
    CHECK(std::stoi(found.records().back().value) == sender.next - 1);
}

TEST_CASE("a producer that ends while its client is replaced does not wait for it", "[kafka]")
{
    const changing_cluster cluster(unusable);
    const auto start = std::chrono::steady_clock::now();
    {
        kafka::producer producer(testing::test_host(), cluster.settings);
        numbered_sender sender(producer, "t");
        REQUIRE(sender.send(1));
        cluster.change("security.protocol=plaintext\n");
        REQUIRE(sender.send(1));
    }
    CHECK(std::chrono::steady_clock::now() - start < 4s);
}

TEST_CASE("rubbish in the properties file changes nothing", "[kafka]")
{
    const auto topic = testing::scratch_topic("rubbish", 1);
    const changing_cluster cluster("linger.ms=1\n");
    kafka::producer producer(testing::test_host(), cluster.settings);
    numbered_sender sender(producer, topic);

    cluster.change("rubbish\n");
    REQUIRE(sender.send(10));

    CHECK(testing::eventually([&] { return sender.acknowledged == 10; }));
}

TEST_CASE("a consumer goes on with changed properties: nothing lost, nothing twice", "[kafka]")
{
    const auto topic = testing::scratch_topic("rejoined", 2);
    const changing_cluster cluster("fetch.wait.max.ms=50\n");
    kafka::producer producer(testing::test_host(), testing::test_cluster());
    numbered_sender sender(producer, topic);
    member reader(cluster.settings, topic);
    REQUIRE(sender.send(100));
    REQUIRE(reader.has_handled(100));
    const auto joined = reader.joined();

    cluster.change("fetch.wait.max.ms=60\n");
    REQUIRE(sender.send(100));
    REQUIRE(testing::eventually([&] { return reader.joined() > joined; }, 30s));
    REQUIRE(sender.send(100));

    REQUIRE(reader.has_handled(300));
    testing::await(reader.consumer.stop(), 30s);
    check_whole_and_ordered(reader.handled, 300);
}

TEST_CASE("a batch that fails does not hold up a consumer's new client", "[kafka]")
{
    const auto topic = testing::scratch_topic("stuck", 1);
    const changing_cluster cluster("fetch.wait.max.ms=50\n");
    member reader(cluster.settings, topic);
    testing::send_all(topic, {{"key", "0"}});
    REQUIRE(reader.has_handled(1));
    const auto joined = reader.joined();
    reader.failures_left = 1'000'000;
    testing::send_all(topic, {{"key", "1"}});
    REQUIRE(testing::eventually([&] { return reader.failures_left < 1'000'000; }, 20s));

    cluster.change("fetch.wait.max.ms=60\n");

    CHECK(testing::eventually([&] { return reader.joined() > joined; }, 30s));
    reader.failures_left = 0;
    REQUIRE(reader.has_handled(2));
    CHECK(reader.handled.back().value == "1");
    testing::await(reader.consumer.stop(), 30s);
    CHECK(reader.handled.size() == 2);
}

TEST_CASE("a broadcast reader goes on with changed properties: nothing lost, nothing twice",
          "[kafka]")
{
    const auto topic = testing::scratch_topic("reread", 2);
    const changing_cluster cluster("fetch.wait.max.ms=50\n");
    kafka::producer producer(testing::test_host(), testing::test_cluster());
    numbered_sender sender(producer, topic);
    testing::collected found(cluster.settings, {topic});
    REQUIRE(sender.send(100));
    REQUIRE(found.has(100));

    cluster.change("fetch.wait.max.ms=60\n");
    REQUIRE(sender.send(100));
    REQUIRE(found.has(200));
    REQUIRE(found.has_all());

    check_whole_and_ordered(found.records(), 200);
}

TEST_CASE("a broadcast reader becomes current once its properties are usable", "[kafka]")
{
    const auto topic = testing::scratch_topic("readable", 1);
    const changing_cluster cluster(unusable);
    testing::send_all(topic, {{"key", "0"}});
    testing::collected found(cluster.settings, {topic});

    cluster.change("security.protocol=plaintext\n");

    CHECK(found.has(1, 30s));
    CHECK(found.has_all());
}
