#include "common/kafka/topics.hpp"

#include "common/kafka/client.hpp"
#include "common/kafka/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tempinbox::kafka {
namespace {

using clock = std::chrono::steady_clock;

int millis_left(clock::time_point end)
{
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 1));
}

// The resources of a request, which copies them.
class config_resources
{
public:
    ~config_resources() { rd_kafka_ConfigResource_destroy_array(all_.data(), all_.size()); }
    config_resources() = default;
    config_resources(const config_resources&) = delete;

    rd_kafka_ConfigResource_t* add(const std::string& topic)
    {
        all_.push_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
        return all_.back();
    }
    rd_kafka_ConfigResource_t** data() { return all_.data(); }
    std::size_t size() const { return all_.size(); }

private:
    std::vector<rd_kafka_ConfigResource_t*> all_;
};

// A topic as the brokers have it.
struct found_topic
{
    int partitions = 0;
    int replication = 0;
    bool is_led = false;                       // every partition has a leader
    std::map<std::string, std::string> config; // the settings in force
    std::map<std::string, std::string> own;    // those of them set for this topic
};
using found_topics = std::map<std::string, found_topic>;

result<event_handle> await_event(rd_kafka_queue_t* queue, clock::time_point end)
{
    event_handle event(rd_kafka_queue_poll(queue, millis_left(end)));
    if (!event)
        return failure{errc::deadline_exceeded, "Kafka did not answer in time"};
    if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return failure{errc::unavailable,
                       std::string("Kafka: ") + rd_kafka_event_error_string(event.get())};
    return event;
}

result<void> first_refusal(const rd_kafka_topic_result_t* const* topics, std::size_t count,
                           rd_kafka_resp_err_t ignored_error)
{
    for (std::size_t i = 0; i < count; ++i) {
        const auto error = rd_kafka_topic_result_error(topics[i]);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != ignored_error)
            return failure{errc::invalid_argument, std::string("topic ") +
                                                       rd_kafka_topic_result_name(topics[i]) +
                                                       ": " + rd_kafka_err2str(error)};
    }
    return {};
}

result<found_topics> find_topics(rd_kafka_t* client, clock::time_point end)
{
    const rd_kafka_metadata_t* raw = nullptr;
    const auto error =
        rd_kafka_metadata(client, 1, nullptr, &raw, std::min(millis_left(end), 5'000));
    const handle<const rd_kafka_metadata_t> metadata(raw);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return unreachable(client, error);
    found_topics found;
    for (int t = 0; t < metadata->topic_cnt; ++t) {
        const auto& topic = metadata->topics[t];
        if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR || topic.partition_cnt == 0)
            continue;
        auto& state = found[topic.topic];
        state.partitions = topic.partition_cnt;
        state.replication = topic.partitions[0].replica_cnt;
        state.is_led = std::all_of(topic.partitions, topic.partitions + topic.partition_cnt,
                                   [](const auto& partition) { return partition.leader >= 0; });
    }
    return found;
}

// Adds the settings of those topics of `specs` that exist.
result<void> read_configs(rd_kafka_t* client, const std::vector<topic_spec>& specs,
                          found_topics& found, clock::time_point end)
{
    config_resources requested;
    for (const auto& spec : specs)
        if (found.contains(spec.name))
            requested.add(spec.name);
    if (requested.size() == 0)
        return {};
    const queue_handle queue(rd_kafka_queue_new(client));
    rd_kafka_DescribeConfigs(client, requested.data(), requested.size(), nullptr, queue.get());
    const auto event = await_event(queue.get(), end);
    if (!event)
        return event.error();
    std::size_t count = 0;
    const auto* described = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event->get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = rd_kafka_ConfigResource_name(described[i]);
        if (rd_kafka_ConfigResource_error(described[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
            return failure{errc::unavailable,
                           "topic " + name + ": " +
                               rd_kafka_ConfigResource_error_string(described[i])};
        std::size_t entries = 0;
        const auto* const* entry = rd_kafka_ConfigResource_configs(described[i], &entries);
        for (std::size_t k = 0; k < entries; ++k) {
            const char* const value = rd_kafka_ConfigEntry_value(entry[k]);
            if (value == nullptr)
                continue;
            found[name].config[rd_kafka_ConfigEntry_name(entry[k])] = value;
            if (rd_kafka_ConfigEntry_source(entry[k]) ==
                RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG)
                found[name].own[rd_kafka_ConfigEntry_name(entry[k])] = value;
        }
    }
    return {};
}

void compare(const topic_spec& spec, const found_topic* found,
             std::vector<topic_difference>& differences)
{
    using kind = topic_difference::kind;
    if (found == nullptr) {
        differences.push_back({kind::missing, spec.name, "", "", ""});
        return;
    }
    if (found->partitions != spec.partitions)
        differences.push_back(
            {found->partitions < spec.partitions ? kind::fewer_partitions : kind::more_partitions,
             spec.name, "partitions", std::to_string(found->partitions),
             std::to_string(spec.partitions)});
    if (found->replication != spec.replication)
        differences.push_back({kind::replication, spec.name, "replication",
                               std::to_string(found->replication),
                               std::to_string(spec.replication)});
    for (const auto& [name, value] : spec.config) {
        const auto known = found->config.find(name);
        const auto now = known == found->config.end() ? std::string() : known->second;
        if (now != value)
            differences.push_back({kind::config, spec.name, name, now, value});
    }
}

result<std::vector<topic_difference>> find_differences(rd_kafka_t* client,
                                                       const std::vector<topic_spec>& specs,
                                                       found_topics& found, clock::time_point end)
{
    auto listed = find_topics(client, end);
    if (!listed)
        return listed.error();
    found = std::move(*listed);
    if (const auto read = read_configs(client, specs, found, end); !read)
        return read.error();
    std::vector<topic_difference> differences;
    for (const auto& spec : specs) {
        const auto known = found.find(spec.name);
        compare(spec, known == found.end() ? nullptr : &known->second, differences);
    }
    return differences;
}

// Retries until the brokers respond.
result<std::vector<topic_difference>> await_differences(rd_kafka_t* client,
                                                        const std::vector<topic_spec>& specs,
                                                        found_topics& found, clock::time_point end)
{
    for (;;) {
        auto differences = find_differences(client, specs, found, end);
        // Brokers that start answer later; a login that they refuse stays refused.
        if (differences || differences.error().code == errc::unauthenticated || clock::now() >= end)
            return differences;
        rd_kafka_poll(client, 100);
    }
}

result<void> create(rd_kafka_t* client, const std::vector<topic_spec>& missing,
                    clock::time_point end)
{
    std::vector<rd_kafka_NewTopic_t*> specs;
    std::array<char, 256> reason{};
    for (const auto& spec : missing) {
        rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(
            spec.name.c_str(), spec.partitions, spec.replication, reason.data(), reason.size());
        if (topic == nullptr) {
            rd_kafka_NewTopic_destroy_array(specs.data(), specs.size());
            return failure{errc::invalid_argument, "topic " + spec.name + ": " + reason.data()};
        }
        for (const auto& [name, value] : spec.config)
            rd_kafka_NewTopic_set_config(topic, name.c_str(), value.c_str());
        specs.push_back(topic);
    }
    const queue_handle queue(rd_kafka_queue_new(client));
    rd_kafka_CreateTopics(client, specs.data(), specs.size(), nullptr, queue.get());
    rd_kafka_NewTopic_destroy_array(specs.data(), specs.size());

    const auto event = await_event(queue.get(), end);
    if (!event)
        return event.error();
    std::size_t count = 0;
    const auto* topics = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(event->get()), &count);
    return first_refusal(topics, count, RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS);
}

// Retries while the brokers cannot create topics, since they may be starting.
result<void> create_missing(rd_kafka_t* client, const std::vector<topic_spec>& missing,
                            clock::time_point end)
{
    if (missing.empty())
        return {};
    for (;;) {
        const auto created = create(client, missing, end);
        if (created || created.error().code == errc::invalid_argument || clock::now() >= end)
            return created;
        rd_kafka_poll(client, 100);
    }
}

bool has(const std::vector<topic_difference>& differences, const std::string& topic,
         topic_difference::kind what)
{
    return std::any_of(differences.begin(), differences.end(),
                       [&](const auto& one) { return one.topic == topic && one.what == what; });
}

std::vector<topic_spec> those_with(const std::vector<topic_spec>& specs,
                                   const std::vector<topic_difference>& differences,
                                   topic_difference::kind what)
{
    std::vector<topic_spec> chosen;
    for (const auto& spec : specs)
        if (has(differences, spec.name, what))
            chosen.push_back(spec);
    return chosen;
}

// The request replaces all settings of a topic, so it repeats those that an operator set besides.
result<void> alter_configs(rd_kafka_t* client, const std::vector<topic_spec>& changed,
                           const found_topics& found, clock::time_point end)
{
    if (changed.empty())
        return {};
    config_resources resources;
    for (const auto& spec : changed) {
        auto all = spec.config;
        all.insert(found.at(spec.name).own.begin(), found.at(spec.name).own.end());
        auto* const resource = resources.add(spec.name);
        for (const auto& [name, value] : all)
            rd_kafka_ConfigResource_set_config(resource, name.c_str(), value.c_str());
    }
    const queue_handle queue(rd_kafka_queue_new(client));
    rd_kafka_AlterConfigs(client, resources.data(), resources.size(), nullptr, queue.get());
    const auto event = await_event(queue.get(), end);
    if (!event)
        return event.error();
    std::size_t count = 0;
    const auto* altered = rd_kafka_AlterConfigs_result_resources(
        rd_kafka_event_AlterConfigs_result(event->get()), &count);
    for (std::size_t i = 0; i < count; ++i)
        if (rd_kafka_ConfigResource_error(altered[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
            return failure{errc::invalid_argument,
                           std::string("topic ") + rd_kafka_ConfigResource_name(altered[i]) + ": " +
                               rd_kafka_ConfigResource_error_string(altered[i])};
    return {};
}

result<void> add_partitions(rd_kafka_t* client, const std::vector<topic_spec>& grown,
                            clock::time_point end)
{
    if (grown.empty())
        return {};
    std::vector<rd_kafka_NewPartitions_t*> specs;
    std::array<char, 256> reason{};
    for (const auto& spec : grown) {
        auto* const one =
            rd_kafka_NewPartitions_new(spec.name.c_str(), static_cast<std::size_t>(spec.partitions),
                                       reason.data(), reason.size());
        if (one == nullptr) {
            rd_kafka_NewPartitions_destroy_array(specs.data(), specs.size());
            return failure{errc::invalid_argument, "topic " + spec.name + ": " + reason.data()};
        }
        specs.push_back(one);
    }
    const queue_handle queue(rd_kafka_queue_new(client));
    rd_kafka_CreatePartitions(client, specs.data(), specs.size(), nullptr, queue.get());
    rd_kafka_NewPartitions_destroy_array(specs.data(), specs.size());
    const auto event = await_event(queue.get(), end);
    if (!event)
        return event.error();
    std::size_t count = 0;
    const auto* topics = rd_kafka_CreatePartitions_result_topics(
        rd_kafka_event_CreatePartitions_result(event->get()), &count);
    return first_refusal(topics, count, RD_KAFKA_RESP_ERR_NO_ERROR);
}

result<void> refuse_more_partitions(const std::vector<topic_difference>& differences)
{
    std::string topics;
    for (const auto& one : differences)
        if (one.what == topic_difference::kind::fewer_partitions)
            topics += (topics.empty() ? "" : ", ") + one.topic + " (" + one.found + ", not " +
                      one.wanted + ")";
    if (topics.empty())
        return {};
    return failure{errc::conflict, "there are fewer partitions than requested: " + topics +
                                       ". More of them move keys to other partitions: events of "
                                       "one inbox may come out of order meanwhile, and "
                                       "what is written stays where it is. Nothing was changed"};
}

// Waits until every topic of `wanted` has its partitions and their leaders.
result<void> await_leaders(rd_kafka_t* client, const std::vector<topic_spec>& specs,
                           repartitioning more_partitions, clock::time_point end)
{
    failure last{errc::deadline_exceeded, "Kafka's topics did not become usable in time"};
    while (clock::now() < end) {
        const auto found = find_topics(client, end);
        if (!found)
            last = found.error();
        const auto is_usable = [&](const topic_spec& spec) {
            const auto known = found->find(spec.name);
            return known != found->end() && known->second.is_led &&
                   (more_partitions == repartitioning::refused ||
                    known->second.partitions >= spec.partitions);
        };
        if (found && std::all_of(specs.begin(), specs.end(), is_usable))
            return {};
        rd_kafka_poll(client, 50);
    }
    return last;
}

// Named as in Kafka from here on.
std::vector<topic_spec> with_prefix(const settings& cluster, std::vector<topic_spec> topics)
{
    for (auto& spec : topics)
        spec.name = prefixed(cluster, spec.name);
    return topics;
}

client_handle make_client(const settings& cluster)
{
    configuration conf(cluster, "topics");
    conf.be_quiet();
    return conf.make(RD_KAFKA_PRODUCER);
}

} // namespace

result<std::vector<topic_difference>> compare_topics(const settings& cluster,
                                                     const std::vector<topic_spec>& topics,
                                                     std::chrono::milliseconds timeout)
{
    const auto client = make_client(cluster);
    found_topics found;
    return await_differences(client.get(), with_prefix(cluster, topics), found,
                             clock::now() + timeout);
}

result<void> apply_topics(const settings& cluster, const std::vector<topic_spec>& topics,
                          std::chrono::milliseconds timeout, repartitioning more_partitions)
{
    using kind = topic_difference::kind;
    const auto specs = with_prefix(cluster, topics);
    const auto end = clock::now() + timeout;
    const auto client = make_client(cluster);
    found_topics found;
    const auto differences = await_differences(client.get(), specs, found, end);
    if (!differences)
        return differences.error();
    if (more_partitions == repartitioning::refused)
        if (const auto refusal = refuse_more_partitions(*differences); !refusal)
            return refusal;

    const auto missing = those_with(specs, *differences, kind::missing);
    if (const auto created = create_missing(client.get(), missing, end); !created)
        return created;
    if (const auto altered =
            alter_configs(client.get(), those_with(specs, *differences, kind::config), found, end);
        !altered)
        return altered;
    if (const auto grown = add_partitions(
            client.get(), those_with(specs, *differences, kind::fewer_partitions), end);
        !grown)
        return grown;
    return await_leaders(client.get(), specs, more_partitions, end);
}

result<topic_retention> find_retention(const settings& cluster, const std::string& topic,
                                       std::chrono::milliseconds timeout)
{
    const auto client = make_client(cluster);
    topic_spec spec;
    spec.name = prefixed(cluster, topic);
    found_topics found;
    const auto read = await_differences(client.get(), {spec}, found, clock::now() + timeout);
    if (!read)
        return read.error();
    const auto known = found.find(spec.name);
    if (known == found.end())
        return failure{errc::not_found, "topic " + spec.name + " is missing"};
    const auto& config = known->second.config;
    const auto value_of = [&config](const std::string& name) {
        const auto one = config.find(name);
        return one == config.end() ? std::string() : one->second;
    };
    topic_retention retention;
    if (value_of("cleanup.policy").find("delete") == std::string::npos)
        return retention;
    const auto text = value_of("retention.ms");
    std::int64_t millis = -1;
    std::from_chars(text.data(), text.data() + text.size(), millis);
    if (millis >= 0)
        retention.time = std::chrono::milliseconds(millis);
    retention.is_bounded_by_size = value_of("retention.bytes") != "-1";
    return retention;
}

} // namespace tempinbox::kafka
