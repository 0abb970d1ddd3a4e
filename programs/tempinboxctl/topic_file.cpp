#include "tempinboxctl/topic_file.hpp"

#include "common/core/embedded_file.hpp"
#include "common/json/object_reader.hpp"
#include "tempinboxctl/text_file.hpp"

namespace tempinbox::topic_files {

// deploy/kafka/topics.json, compiled in.
extern const std::span<const embedded_file> files;

} // namespace tempinbox::topic_files

namespace tempinbox::ctl {
namespace {

constexpr std::int64_t max_partitions = 10'000;
constexpr std::int64_t max_replicas = 100;

result<kafka::topic_spec> read_topic(const json::value& described, const topic_overrides& overrides)
{
    json::object_reader fields(described);
    kafka::topic_spec topic;
    topic.name = fields.required_text("name", 1, 249);
    const auto partitions = fields.integer("partitions", 1, max_partitions);
    const bool are_fixed = fields.boolean("fixedPartitions").value_or(false);
    const auto replication = fields.integer("replication", 1, max_replicas);
    topic.config =
        fields.text_map("config", 100, 200, 1'000).value_or(std::map<std::string, std::string>());
    if (const auto all_known = fields.finish(); !all_known)
        return all_known.error();
    const auto of_file = partitions.value_or(1);
    topic.partitions =
        static_cast<int>(are_fixed ? of_file : overrides.partitions.value_or(of_file));
    topic.replication = static_cast<int>(overrides.replication.value_or(replication.value_or(1)));
    if (topic.replication >= 3)
        topic.config.emplace("min.insync.replicas", "2");
    return topic;
}

} // namespace

result<std::vector<kafka::topic_spec>> read_topics(std::string_view json,
                                                   const topic_overrides& overrides)
{
    json::limits limits;
    limits.bytes = 1024 * 1024;
    auto file = json::object_reader::parse(json, limits);
    if (!file)
        return file.error();
    const auto described = file->objects("topics", 1'000);
    if (const auto all_known = file->finish(); !all_known)
        return all_known.error();
    if (!described || described->empty())
        return failure{errc::invalid_argument, "topics must name at least one topic"};
    std::vector<kafka::topic_spec> topics;
    for (const auto& one : *described) {
        auto topic = read_topic(one, overrides);
        if (!topic)
            return failure{errc::invalid_argument, "topic " + std::to_string(topics.size() + 1) +
                                                       ": " + topic.error().message};
        topics.push_back(std::move(*topic));
    }
    return topics;
}

result<std::vector<kafka::topic_spec>> read_topic_file(const std::optional<std::string>& path,
                                                       const topic_overrides& overrides)
{
    if (!path)
        return read_topics(topic_files::files.front().content, overrides);
    const auto content = read_text_file(*path);
    if (!content)
        return content.error();
    return read_topics(*content, overrides);
}

std::string text_of(const kafka::topic_difference& one, const std::string& between)
{
    if (one.what == kafka::topic_difference::kind::missing)
        return "missing";
    return one.setting + ": " + (one.found.empty() ? "not set" : one.found) + between + one.wanted;
}

} // namespace tempinbox::ctl
