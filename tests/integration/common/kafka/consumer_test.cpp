#include "common/kafka/consumer.hpp"

#include "common/kafka/client.hpp"
#include "common/kafka/topics.hpp"
#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <limits>
#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// A member of a group whose handler does what the test says and records what it got.
class member
{
public:
    explicit member(std::string topic, std::string group, std::size_t batch_limit = 500,
                    kafka::settings cluster = testing::test_cluster())
        : consumer_(std::make_unique<kafka::consumer>(
              testing::test_host(),
              settings_for(std::move(topic), std::move(group), batch_limit, std::move(cluster)),
              [this](const std::vector<kafka::record>& batch) { return handle(batch); }))
    {
        consumer_->start();
    }

    std::vector<std::string> seen;      // what the handler got
    std::multiset<std::string> handled; // handled to the end
    int failures_left = 0;
    std::chrono::milliseconds takes{0};
    bool is_blocked = false;

    kafka::consumer& consumer() { return *consumer_; }
    void stop() { testing::await(consumer_->stop(), 30s); }
    // Without waiting for the handler.
    void kill() { consumer_.reset(); }
    bool has_seen(std::size_t count, std::chrono::milliseconds deadline = 20s)
    {
        return testing::eventually([&] { return seen.size() >= count; }, deadline);
    }
    bool has_handled(std::size_t count, std::chrono::milliseconds deadline = 20s)
    {
        return testing::eventually([&] { return handled.size() >= count; }, deadline);
    }

private:
    static kafka::consumer_settings settings_for(std::string topic, std::string group,
                                                 std::size_t batch_limit, kafka::settings cluster)
    {
        kafka::consumer_settings chosen;
        chosen.cluster = std::move(cluster);
        chosen.topics = {std::move(topic)};
        chosen.group = std::move(group);
        chosen.retry_delay = 100ms;
        chosen.batch_limit = batch_limit;
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

// The value of a series, absent if there is none.
std::optional<double> metric(const std::string& line_start)
{
    const auto text = metrics_text();
    const auto at = text.find("\n" + line_start + " ");
    if (at == std::string::npos)
        return std::nullopt;
    return std::stod(text.substr(at + line_start.size() + 2));
}

std::optional<double> lag_of(const std::string& topic)
{
    return metric("tempinbox_consumer_lag_records{group=\"" + topic +
                  "\",partition=\"0\",topic=\"" + topic + "\"}");
}

double rebalances_of(const std::string& topic)
{
    return metric("tempinbox_consumer_rebalances_total{group=\"" + topic + "\"}").value_or(0);
}

std::optional<double> age_of(const std::string& topic)
{
    return metric("tempinbox_consumer_oldest_age_seconds{group=\"" + topic + "\"}");
}

std::optional<double> expired_of(const std::string& topic)
{
    return metric("tempinbox_consumer_expired_records_total{group=\"" + topic + "\",topic=\"" +
                  topic + "\"}");
}

// Deletes records as retention does: the partition begins at `offset` from now on.
void delete_records_before(const std::string& topic, std::int64_t offset)
{
    char reason[256];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", testing::test_brokers().c_str(), reason,
                      sizeof reason);
    const kafka::client_handle client(rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason));
    const kafka::partition_list offsets(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(offsets.get(), topic.c_str(), 0)->offset = offset;
    rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(offsets.get());
    const kafka::queue_handle queue(rd_kafka_queue_new(client.get()));
    rd_kafka_DeleteRecords(client.get(), &request, 1, nullptr, queue.get());
    rd_kafka_event_t* const event = rd_kafka_queue_poll(queue.get(), 20'000);
    REQUIRE(event != nullptr);
    CHECK(rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(request);
}

} // namespace

TEST_CASE("a group reads each record once, from the beginning, and goes on where it stopped",
          "[kafka]")
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

TEST_CASE("a batch whose handler throws is delivered again", "[kafka]")
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
    // The running batch is finished and committed before partitions move, so nothing is handled
    // twice.
    CHECK(first.handled.size() + second.handled.size() == expected);
}

TEST_CASE("a paused consumer gets nothing until it is resumed", "[kafka]")
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

TEST_CASE("a batch that takes long keeps its offset, and nothing is lost or repeated", "[kafka]")
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

TEST_CASE("a member reads on that gets a partition back which it had while its handler failed",
          "[kafka]")
{
    const auto topic = testing::scratch_topic("returned", 1);
    member failing(topic, topic);
    failing.failures_left = std::numeric_limits<int>::max();
    testing::send_all(topic, numbered(0, 3));
    REQUIRE(testing::eventually([&] { return !failing.seen.empty(); }));

    // One of them has the partition, then the first again.
    member other(topic, topic);
    other.failures_left = failing.failures_left;
    REQUIRE(testing::eventually([&] { return rebalances_of(topic) >= 3; }, 30s));
    other.stop();
    failing.failures_left = 0;

    CHECK(failing.has_handled(3, 30s));
    failing.stop();
}

TEST_CASE("a batch whose partitions were lost ends before the next one begins", "[kafka]")
{
    const auto topic = testing::scratch_topic("lost", 1);
    testing::send_all(topic, numbered(0, 1));
    // The broker takes the member for dead before it says again that it lives.
    auto cluster = testing::test_cluster();
    cluster.properties["session.timeout.ms"] = "6000";
    cluster.properties["heartbeat.interval.ms"] = "8000";
    member late(topic, topic, 500, cluster);
    late.is_blocked = true;
    REQUIRE(late.has_seen(1));

    CHECK(testing::eventually([&] { return rebalances_of(topic) >= 2; }, 60s));
    CHECK_FALSE(late.has_seen(2, 1s));

    late.is_blocked = false;
    CHECK(late.has_handled(2)); // nothing was committed
    late.stop();
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

awaitable<void> count(const std::vector<kafka::record>& batch, std::size_t& largest,
                      std::size_t& total)
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
    kafka::consumer reader(
        testing::test_host(), chosen,
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
        return metrics_text().find("tempinbox_consumer_lag_records{group=\"" + topic +
                                   "\",partition=\"0\",topic=\"" + topic + "\"} 0") !=
               std::string::npos;
    }));
    CHECK(testing::eventually([&] {
        return metrics_text().find("messaging_process_duration_seconds_count{group=\"" + topic +
                                   "\",outcome=\"ok\",topic=\"" + topic + "\"}") !=
               std::string::npos;
    }));
    reader.stop();
}

TEST_CASE("a member that is behind and busy says so after each batch", "[kafka]")
{
    const auto topic = testing::scratch_topic("busy", 1);
    testing::send_all(topic, numbered(0, 100));
    member reader(topic, topic, 1);
    reader.takes = 100ms;

    CHECK(testing::eventually(
        [&] { return lag_of(topic).value_or(0) > 0 && age_of(topic).value_or(0) > 1; }, 30s));
    CHECK_FALSE(reader.handled.empty());

    reader.takes = 0ms;
    REQUIRE(reader.has_handled(100));
    CHECK(testing::eventually([&] { return lag_of(topic) == 0.0 && age_of(topic) == 0.0; }, 20s));
    reader.stop();
}

TEST_CASE("a member whose handler fails is behind by all of it, and its age grows", "[kafka]")
{
    const auto topic = testing::scratch_topic("failing", 1);
    testing::send_all(topic, numbered(0, 4));
    member reader(topic, topic);
    reader.failures_left = 1'000'000;

    CHECK(testing::eventually([&] { return lag_of(topic) == 4.0 && age_of(topic).value_or(0) > 2; },
                              30s));

    testing::send_all(topic, numbered(4, 3));
    CHECK(testing::eventually([&] { return lag_of(topic) == 7.0; }, 30s));
    reader.failures_left = 0;
    CHECK(testing::eventually([&] { return lag_of(topic) == 0.0 && age_of(topic) == 0.0; }, 20s));
    reader.stop();
}

TEST_CASE("a paused member reports its growing lag", "[kafka]")
{
    const auto topic = testing::scratch_topic("gathering", 1);
    testing::send_all(topic, numbered(0, 2));
    member reader(topic, topic);
    REQUIRE(reader.has_handled(2));
    REQUIRE(testing::eventually([&] { return lag_of(topic) == 0.0; }, 20s));

    reader.consumer().pause();
    testing::send_all(topic, numbered(2, 5));

    CHECK(testing::eventually([&] { return lag_of(topic) == 5.0 && age_of(topic).value_or(0) > 1; },
                              30s));
    reader.consumer().resume();
    CHECK(testing::eventually([&] { return lag_of(topic) == 0.0 && age_of(topic) == 0.0; }, 20s));
    reader.stop();
}

TEST_CASE("a new member is behind by what its group left, and its lines go with its partitions",
          "[kafka]")
{
    const auto topic = testing::scratch_topic("left", 1);
    testing::send_all(topic, numbered(0, 3));
    {
        member first(topic, topic);
        REQUIRE(first.has_handled(3));
        REQUIRE(testing::eventually([&] { return lag_of(topic).has_value(); }, 20s));
        first.stop();
        CHECK_FALSE(lag_of(topic));
    }
    testing::send_all(topic, numbered(3, 6));

    member next(topic, topic);
    next.is_blocked = true;

    CHECK(testing::eventually([&] { return lag_of(topic) == 6.0; }, 30s));
    next.is_blocked = false;
    REQUIRE(next.has_handled(6));
    next.stop();
}

TEST_CASE("records that retention took before they were read are counted", "[kafka]")
{
    const auto topic = testing::scratch_topic("expired", 1);
    testing::send_all(topic, numbered(0, 3));
    {
        member first(topic, topic);
        REQUIRE(first.has_handled(3));
        first.stop();
        CHECK(expired_of(topic) == 0.0);
    }
    testing::send_all(topic, numbered(3, 10));
    delete_records_before(topic, 9);

    member next(topic, topic);
    REQUIRE(next.has_handled(4));

    CHECK(testing::eventually([&] { return expired_of(topic) == 6.0; }, 20s));
    next.stop();
    CHECK(next.handled == std::multiset<std::string>{"9", "10", "11", "12"});
}
