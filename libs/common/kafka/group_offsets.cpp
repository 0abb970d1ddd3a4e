#include "common/kafka/group_offsets.hpp"

#include "common/kafka/client.hpp"
#include "common/kafka/names.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::kafka {
namespace {

using steady = std::chrono::steady_clock;

int millis(std::chrono::milliseconds time)
{
    return static_cast<int>(std::clamp<std::int64_t>(time.count(), 1, 3'600'000));
}

failure unavailable(rd_kafka_resp_err_t error)
{
    return {errc::unavailable, std::string("Kafka: ") + rd_kafka_err2str(error)};
}

// A member of no group: it reads what is assigned to it, and commits for `group` while that has no
// members.
client_handle make_reader(const settings& cluster, const std::string& group)
{
    configuration conf(cluster, "offsets");
    conf.be_quiet();
    conf.set("group.id", prefixed(cluster, group));
    conf.set("enable.auto.commit", "false");
    conf.set("enable.auto.offset.store", "false");
    conf.set("enable.partition.eof", "true");
    conf.set("auto.offset.reset", "earliest");
    auto client = conf.make(RD_KAFKA_CONSUMER);
    rd_kafka_poll_set_consumer(client.get());
    return client;
}

partition_list make_list(std::size_t size)
{
    return partition_list(rd_kafka_topic_partition_list_new(static_cast<int>(size)));
}

// The brokers may be starting: asks until they respond.
result<int> count_partitions(rd_kafka_t* client, const std::string& topic, steady::time_point end)
{
    constexpr int attempt_millis = 2'000;
    const handle<rd_kafka_topic_t> of(rd_kafka_topic_new(client, topic.c_str(), nullptr));
    failure last{errc::unavailable, "Kafka does not answer"};
    do {
        const rd_kafka_metadata_t* raw = nullptr;
        const auto error = rd_kafka_metadata(client, 0, of.get(), &raw, attempt_millis);
        const handle<const rd_kafka_metadata_t> metadata(raw);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR && metadata->topic_cnt == 1 &&
            metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR &&
            metadata->topics[0].partition_cnt > 0)
            return metadata->topics[0].partition_cnt;
        last = error == RD_KAFKA_RESP_ERR_NO_ERROR
                   ? failure{errc::unavailable, "topic " + topic + " is missing"}
                   : unreachable(client, error);
        if (last.code == errc::unauthenticated)
            return last;
        rd_kafka_poll(client, 100);
    } while (steady::now() < end);
    return last;
}

// Every partition of the topics, without offsets.
result<partition_list> list_partitions(const settings& cluster, rd_kafka_t* client,
                                       const std::vector<std::string>& topics,
                                       std::chrono::milliseconds timeout)
{
    auto list = make_list(topics.size());
    const auto end = steady::now() + timeout;
    for (const auto& topic : topics) {
        const auto count = count_partitions(client, prefixed(cluster, topic), end);
        if (!count)
            return count.error();
        for (std::int32_t number = 0; number < *count; ++number)
            add_to(list, cluster, {topic, number});
    }
    return list;
}

result<void> check(const rd_kafka_topic_partition_list_t& list)
{
    for (int i = 0; i < list.cnt; ++i)
        if (list.elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
            return unavailable(list.elems[i].err);
    return {};
}

// Replaces each offset by that of the first record from the time on, or by the partition's end.
result<void> find_offsets(rd_kafka_t* client, rd_kafka_topic_partition_list_t& list,
                          time_point time, std::chrono::milliseconds timeout)
{
    for (int i = 0; i < list.cnt; ++i)
        list.elems[i].offset = to_unix_micros(time) / 1'000;
    const auto error = rd_kafka_offsets_for_times(client, &list, millis(timeout));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return unavailable(error);
    if (const auto good = check(list); !good)
        return good;
    for (int i = 0; i < list.cnt; ++i) {
        auto& one = list.elems[i];
        if (one.offset >= 0)
            continue;
        std::int64_t low = 0, high = 0;
        const auto queried = rd_kafka_query_watermark_offsets(client, one.topic, one.partition,
                                                              &low, &high, millis(timeout));
        if (queried != RD_KAFKA_RESP_ERR_NO_ERROR)
            return unavailable(queried);
        one.offset = high;
    }
    return {};
}

struct release_groups
{
    void operator()(const rd_kafka_group_list* list) const { rd_kafka_group_list_destroy(list); }
};

int count_members(const rd_kafka_group_list& groups)
{
    int members = 0;
    for (int i = 0; i < groups.group_cnt; ++i)
        members += groups.groups[i].member_cnt;
    return members;
}

// Where to begin and where to end in each partition of a topic.
struct read_plan
{
    partition_list from;
    std::map<std::int32_t, std::int64_t> ends; // of partitions that have something to read
};

result<read_plan> plan_reading(const settings& cluster, rd_kafka_t* client,
                               const std::string& topic, std::optional<time_point> since,
                               std::chrono::milliseconds timeout)
{
    auto all = list_partitions(cluster, client, {topic}, timeout);
    if (!all)
        return all.error();
    if (since)
        if (const auto found = find_offsets(client, **all, *since, timeout); !found)
            return found.error();
    read_plan plan{make_list(static_cast<std::size_t>((*all)->cnt)), {}};
    for (int i = 0; i < (*all)->cnt; ++i) {
        const auto& one = (*all)->elems[i];
        std::int64_t low = 0, high = 0;
        const auto queried = rd_kafka_query_watermark_offsets(client, one.topic, one.partition,
                                                              &low, &high, millis(timeout));
        if (queried != RD_KAFKA_RESP_ERR_NO_ERROR)
            return unavailable(queried);
        const auto first = since ? std::max(one.offset, low) : low;
        if (first >= high)
            continue;
        rd_kafka_topic_partition_list_add(plan.from.get(), one.topic, one.partition)->offset =
            first;
        plan.ends[one.partition] = high;
    }
    return plan;
}

} // namespace

result<std::vector<group_position>> find_group_positions(const settings& cluster,
                                                         const std::string& group,
                                                         const std::vector<std::string>& topics,
                                                         time_point time,
                                                         std::chrono::milliseconds timeout)
{
    const auto client = make_reader(cluster, group);
    const auto list = list_partitions(cluster, client.get(), topics, timeout);
    if (!list)
        return list.error();
    const auto error = rd_kafka_committed(client.get(), list->get(), millis(timeout));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return unavailable(error);
    if (const auto good = check(**list); !good)
        return good.error();
    std::vector<group_position> positions;
    const auto times = make_list(static_cast<std::size_t>((*list)->cnt));
    for (int i = 0; i < (*list)->cnt; ++i) {
        const auto& one = (*list)->elems[i];
        if (one.offset < 0)
            continue;
        positions.emplace_back(one.topic, one.partition, one.offset, 0);
        rd_kafka_topic_partition_list_add(times.get(), one.topic, one.partition);
    }
    if (positions.empty())
        return positions;
    if (const auto found = find_offsets(client.get(), *times, time, timeout); !found)
        return found.error();
    for (std::size_t i = 0; i < positions.size(); ++i)
        positions[i].at_time = times->elems[i].offset;
    return positions;
}

result<int> count_group_members(const settings& cluster, const std::string& group,
                                std::chrono::milliseconds timeout)
{
    const auto client = make_reader(cluster, group);
    const auto name = prefixed(cluster, group);
    const auto end = steady::now() + timeout;
    for (;;) {
        const rd_kafka_group_list* raw = nullptr;
        const auto error = rd_kafka_list_groups(client.get(), name.c_str(), &raw, 5'000);
        const std::unique_ptr<const rd_kafka_group_list, release_groups> groups(raw);
        // A part of the list may lack the group.
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
            return count_members(*groups);
        if (steady::now() >= end)
            return unavailable(error);
    }
}

result<void> set_group_positions(const settings& cluster, const std::string& group,
                                 const std::vector<group_position>& positions,
                                 std::chrono::milliseconds timeout)
{
    if (positions.empty())
        return {};
    const auto members = count_group_members(cluster, group, timeout);
    if (!members)
        return members.error();
    if (*members > 0)
        return failure{errc::conflict, "the consumer group " + prefixed(cluster, group) + " has " +
                                           std::to_string(*members) +
                                           " members: stop its services first"};
    const auto client = make_reader(cluster, group);
    const auto list = make_list(positions.size());
    for (const auto& one : positions)
        rd_kafka_topic_partition_list_add(list.get(), one.topic.c_str(), one.partition)->offset =
            one.at_time;
    const auto error = rd_kafka_commit(client.get(), list.get(), 0);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return unavailable(error);
    return check(*list);
}

struct bounded_reader::state
{
    state(settings where, std::string name, std::optional<time_point> first,
          std::chrono::milliseconds max_wait)
        : cluster(std::move(where)),
          topic(std::move(name)),
          since(first),
          timeout(max_wait)
    {}

    result<void> open();

    const settings cluster;
    const std::string topic;
    const std::optional<time_point> since;
    const std::chrono::milliseconds timeout;
    client_handle client;
    std::map<std::int32_t, std::int64_t> ends; // of partitions that have something left
};

result<void> bounded_reader::state::open()
{
    // librdkafka requires a group for manual assignment; it is never joined.
    auto opened = make_reader(cluster, "tempinbox-offsets");
    auto plan = plan_reading(cluster, opened.get(), topic, since, timeout);
    if (!plan)
        return plan.error();
    if (!plan->ends.empty())
        if (const auto error = rd_kafka_assign(opened.get(), plan->from.get());
            error != RD_KAFKA_RESP_ERR_NO_ERROR)
            return unavailable(error);
    ends = std::move(plan->ends);
    client = std::move(opened);
    return {};
}

bounded_reader::bounded_reader(settings cluster, std::string topic, std::optional<time_point> since,
                               std::chrono::milliseconds timeout)
    : state_(std::make_unique<state>(std::move(cluster), std::move(topic), since, timeout))
{}

bounded_reader::~bounded_reader()
{
    if (state_->client)
        rd_kafka_consumer_close(state_->client.get());
}

result<std::vector<record>> bounded_reader::read(std::size_t limit)
{
    if (!state_->client)
        if (const auto opened = state_->open(); !opened)
            return opened.error();
    auto& ends = state_->ends;
    std::vector<record> batch;
    auto deadline = steady::now() + state_->timeout;
    while (!ends.empty() && batch.size() < limit) {
        if (steady::now() >= deadline)
            return failure{errc::unavailable, "Kafka did not give all of topic " +
                                                  prefixed(state_->cluster, state_->topic) +
                                                  " in time"};
        const message_handle message(rd_kafka_consumer_poll(state_->client.get(), 100));
        if (!message)
            continue;
        const auto end = ends.find(message->partition);
        if (end == ends.end())
            continue; // what came after the first read
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            // The end may lie past the last record: compaction and markers leave gaps.
            if (message->offset >= end->second)
                ends.erase(end);
            continue;
        }
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
            continue; // it ends by itself, or the deadline passes
        deadline = steady::now() + state_->timeout;
        if (message->offset < end->second)
            batch.push_back(read_record(state_->cluster, *message));
        if (message->offset + 1 >= end->second)
            ends.erase(end);
    }
    return batch;
}

} // namespace tempinbox::kafka
