#include "common/kafka/topics.hpp"

#include "common/kafka/client.hpp"

#include <array>
#include <memory>
#include <set>

namespace tempinbox::kafka {
namespace {

using clock = std::chrono::steady_clock;

int millis_left(clock::time_point end)
{
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 1));
}

// Topics whose every partition has a leader.
result<std::set<std::string>> usable_topics(rd_kafka_t* client, clock::time_point end)
{
    const struct rd_kafka_metadata* metadata = nullptr;
    const auto error = rd_kafka_metadata(client, 1, nullptr, &metadata, std::min(millis_left(end), 5'000));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return failure{errc::unavailable, std::string("Kafka does not answer: ") + rd_kafka_err2str(error)};
    std::set<std::string> usable;
    for (int t = 0; t < metadata->topic_cnt; ++t) {
        const auto& topic = metadata->topics[t];
        bool is_led = topic.err == RD_KAFKA_RESP_ERR_NO_ERROR && topic.partition_cnt > 0;
        for (int p = 0; p < topic.partition_cnt; ++p)
            is_led = is_led && topic.partitions[p].leader >= 0;
        if (is_led)
            usable.insert(topic.topic);
    }
    rd_kafka_metadata_destroy(metadata);
    return usable;
}

result<void> create(rd_kafka_t* client, const std::vector<topic_spec>& missing, clock::time_point end)
{
    std::vector<rd_kafka_NewTopic_t*> wanted;
    std::array<char, 256> reason{};
    for (const auto& spec : missing) {
        rd_kafka_NewTopic_t* topic =
            rd_kafka_NewTopic_new(spec.name.c_str(), spec.partitions, spec.replication, reason.data(), reason.size());
        if (topic == nullptr) {
            rd_kafka_NewTopic_destroy_array(wanted.data(), wanted.size());
            return failure{errc::invalid_argument, "topic " + spec.name + ": " + reason.data()};
        }
        for (const auto& [name, value] : spec.config)
            rd_kafka_NewTopic_set_config(topic, name.c_str(), value.c_str());
        wanted.push_back(topic);
    }
    const queue_handle queue(rd_kafka_queue_new(client));
    rd_kafka_CreateTopics(client, wanted.data(), wanted.size(), nullptr, queue.get());
    rd_kafka_NewTopic_destroy_array(wanted.data(), wanted.size());

    rd_kafka_event_t* event = rd_kafka_queue_poll(queue.get(), millis_left(end));
    if (event == nullptr)
        return failure{errc::deadline_exceeded, "Kafka did not create the topics in time"};
    result<void> outcome;
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        outcome = failure{errc::unavailable, std::string("Kafka: ") + rd_kafka_event_error_string(event)};
    } else {
        std::size_t count = 0;
        const auto* topics = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto error = rd_kafka_topic_result_error(topics[i]);
            if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
                outcome = failure{errc::invalid_argument,
                                  std::string("topic ") + rd_kafka_topic_result_name(topics[i]) + ": " + rd_kafka_err2str(error)};
        }
    }
    rd_kafka_event_destroy(event);
    return outcome;
}

} // namespace

result<void> apply_topics(const settings& cluster, const std::vector<topic_spec>& wanted, std::chrono::milliseconds patience)
{
    const auto end = clock::now() + patience;
    configuration conf(cluster, "tempinbox-topics");
    rd_kafka_conf_set_log_cb(conf.get(), nullptr);
    const auto client = conf.make(RD_KAFKA_PRODUCER);

    bool has_created = false;
    failure last{errc::deadline_exceeded, "Kafka's topics did not become usable in time"};
    while (clock::now() < end) {
        const auto usable = usable_topics(client.get(), end);
        if (!usable) {
            last = usable.error();
            rd_kafka_poll(client.get(), 100);
            continue;
        }
        std::vector<topic_spec> missing;
        for (const auto& spec : wanted)
            if (!usable->contains(spec.name))
                missing.push_back(spec);
        if (missing.empty())
            return {};
        if (!has_created) {
            const auto created = create(client.get(), missing, end);
            if (!created && created.error().code == errc::invalid_argument)
                return created.error();
            if (!created)
                last = created.error();
            has_created = created.has_value();
        }
        rd_kafka_poll(client.get(), 50);
    }
    return last;
}

} // namespace tempinbox::kafka
