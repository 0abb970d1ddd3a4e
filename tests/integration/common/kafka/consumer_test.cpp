#include "common/kafka/consumer.hpp"

#include "common/kafka/topics.hpp"
#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// A member of a group whose handler does what the test says, and remembers what it was handed.
class member
{
public:
    explicit member(std::string topic, std::string group)
        : consumer_(std::make_unique<kafka::consumer>(testing::test_host(), settings_for(std::move(topic), std::move(group)),
                                                      [this](const std::vector<kafka::record>& batch) { return handle(batch); }))
    {
        consumer_->start();
    }

    std::vector<std::string> seen;      // handed over
    std::multiset<std::string> handled; // handled to the end
    int failures_left = 0;
    std::chrono::milliseconds takes{0};
    bool is_blocked = false;

    kafka::consumer& consumer() { return *consumer_; }
    void stop() { testing::await(consumer_->stop(), 30s); }
    // Without waiting for the handler.
    void kill() { consumer_.reset(); }
    bool has_handled(std::size_t count, std::chrono::milliseconds deadline = 20s)
    {
        return testing::eventually([&] { return handled.size() >= count; }, deadline);
    }

private:
    static kafka::consumer_settings settings_for(std::string topic, std::string group)
    {
        kafka::consumer_settings chosen;
        chosen.cluster = testing::test_cluster();
        chosen.topics = {std::move(topic)};
        chosen.group = std::move(group);
        chosen.retry_pause = 100ms;
        return chosen;
    }

    awaitable<void> handle(const std::vector<kafka::record>& batch)
    {
        for (const auto& record : batch)
            seen.push_back(record.value);
        if (failures_left > 0) {
            --failures_left;
            throw dependency_error("the database is away");
        }
        boost::asio::steady_timer timer(testing::test_host().loop());
        const auto until = std::chrono::steady_clock::now() + takes;
        while (is_blocked || std::chrono::steady_clock::now() < until) {
            timer.expires_after(10ms);
            co_await timer.async_wait(boost::asio::use_awaitable);
        }
        for (const auto& record : batch)
            handled.insert(record.value);
    }

    std::unique_ptr<kafka::consumer> consumer_;
};

std::vector<std::pair<std::string, std::string>> numbered(int first, int count)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    for (int i = first; i < first + count; ++i)
        pairs.emplace_back("key " + std::to_string(i % 11), std::to_string(i));
    return pairs;
}

std::string metrics_text()
{
    return testing::test_host().metrics().text();
}

} // namespace

TEST_CASE("a group reads each record once, from the beginning, and goes on where it stopped", "[kafka]")
{
    const auto topic = testing::scratch_topic("read");
    testing::send_all(topic, numbered(0, 100));
    {
        member first(topic, topic);
        REQUIRE(first.has_handled(100));
        first.stop();
        CHECK(first.handled.size() == 100);
    }
    testing::send_all(topic, numbered(100, 5));

    member second(topic, topic);
    REQUIRE(second.has_handled(5));
    second.stop();

    CHECK(second.handled == std::multiset<std::string>{"100", "101", "102", "103", "104"});
}

TEST_CASE("offsets are committed only after the handler returned", "[kafka]")
{
    const auto topic = testing::scratch_topic("unhandled", 1);
    testing::send_all(topic, numbered(0, 3));
    member blocked(topic, topic);
    blocked.is_blocked = true;
    REQUIRE(testing::eventually([&] { return blocked.seen.size() == 3; }));

    blocked.kill();
    member next(topic, topic);

    CHECK(next.has_handled(3, 30s));
    next.stop();
    blocked.is_blocked = false;
    CHECK(blocked.has_handled(3));
}

TEST_CASE("a batch whose handler throws is handed over again", "[kafka]")
{
    const auto topic = testing::scratch_topic("retried", 1);
    member reader(topic, topic);
    reader.failures_left = 3;

    testing::send_all(topic, numbered(0, 1));

    REQUIRE(reader.has_handled(1));
    reader.stop();
    CHECK(reader.seen == std::vector<std::string>{"0", "0", "0", "0"});
}

TEST_CASE("a second member and its leaving lose nothing", "[kafka]")
{
    const auto topic = testing::scratch_topic("rebalanced", 4);
    member first(topic, topic);
    first.takes = 20ms;
    testing::send_all(topic, numbered(0, 200));
    REQUIRE(first.has_handled(1));

    member second(topic, topic);
    second.takes = 20ms;
    int sent = 200;
    // The second gets its share with the first's next heartbeat.
    REQUIRE(testing::eventually(
        [&] {
            testing::send_all(topic, numbered(sent, 20));
            sent += 20;
            return !second.handled.empty();
        },
        30s));
    first.stop();
    testing::send_all(topic, numbered(sent, 200));
    const auto expected = static_cast<std::size_t>(sent + 200);

    const auto all = [&] {
        std::set<std::string> values(first.handled.begin(), first.handled.end());
        values.insert(second.handled.begin(), second.handled.end());
        return values.size();
    };
    CHECK(testing::eventually([&] { return all() == expected; }, 30s));
    second.stop();
    // The running batch is finished and committed before partitions move: nothing is handled twice either.
    CHECK(first.handled.size() + second.handled.size() == expected);
}

TEST_CASE("a paused consumer is handed nothing until it is resumed", "[kafka]")
{
    const auto topic = testing::scratch_topic("paused", 2);
    member reader(topic, topic);
    testing::send_all(topic, numbered(0, 10));
    REQUIRE(reader.has_handled(10));

    reader.consumer().pause();
    testing::send_all(topic, numbered(10, 10));
    CHECK_FALSE(reader.has_handled(11, 700ms));

    reader.consumer().resume();
    CHECK(reader.has_handled(20));
    reader.stop();
    CHECK(reader.handled.size() == 20);
}

TEST_CASE("a batch that takes long keeps its place, and nothing is lost or repeated", "[kafka]")
{
    const auto topic = testing::scratch_topic("slow", 2);
    member reader(topic, topic);
    reader.takes = 1'500ms;
    testing::send_all(topic, numbered(0, 10));
    REQUIRE(testing::eventually([&] { return !reader.seen.empty(); }));
    reader.takes = 0ms;
    testing::send_all(topic, numbered(10, 50));

    REQUIRE(reader.has_handled(60));
    reader.stop();
    CHECK(reader.seen.size() == 60);
}

TEST_CASE("a missing topic is waited for", "[kafka]")
{
    const auto topic = testing::scratch_topic("model") + ".late";
    member reader(topic, topic);
    kafka::topic_spec spec;
    spec.name = topic;
    REQUIRE(kafka::apply_topics(testing::test_cluster(), {spec}, 20s));
    testing::send_all(topic, numbered(0, 3));

    CHECK(reader.has_handled(3, 30s));
    reader.stop();
}

namespace {

awaitable<void> count(const std::vector<kafka::record>& batch, std::size_t& largest, std::size_t& total)
{
    largest = std::max(largest, batch.size());
    total += batch.size();
    co_return;
}

} // namespace

TEST_CASE("the batch limit holds", "[kafka]")
{
    const auto topic = testing::scratch_topic("limited", 1);
    testing::send_all(topic, numbered(0, 100));
    kafka::consumer_settings chosen;
    chosen.cluster = testing::test_cluster();
    chosen.topics = {topic};
    chosen.group = topic;
    chosen.batch_limit = 30;
    std::size_t largest = 0, total = 0;
    kafka::consumer reader(testing::test_host(), chosen,
                           [&](const std::vector<kafka::record>& batch) { return count(batch, largest, total); });
    reader.start();

    CHECK(testing::eventually([&] { return total == 100; }));
    testing::await(reader.stop());
    CHECK(largest <= 30);
}

TEST_CASE("lag and handling are measured", "[kafka]")
{
    const auto topic = testing::scratch_topic("measured", 1);
    testing::send_all(topic, numbered(0, 10));
    member reader(topic, topic);
    REQUIRE(reader.has_handled(10));

    CHECK(testing::eventually([&] {
        return metrics_text().find("kafka_consumer_lag_records{group=\"" + topic + "\",partition=\"0\",topic=\"" + topic +
                                   "\"} 0") != std::string::npos;
    }));
    CHECK(testing::eventually([&] {
        return metrics_text().find("messaging_process_duration_seconds_count{group=\"" + topic + "\",outcome=\"ok\",topic=\"" +
                                   topic + "\"}") != std::string::npos;
    }));
    reader.stop();
}
