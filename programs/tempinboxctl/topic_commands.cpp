#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/topic_file.hpp"

#include <fstream>
#include <sstream>

namespace tempinbox::ctl {
namespace {

constexpr std::int64_t default_patience_seconds = 60;

result<std::string> read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    if (!file)
        return failure{errc::invalid_argument, "the file " + quote(path) + " cannot be read"};
    return content.str();
}

record to_record(const kafka::topic_spec& topic)
{
    record fields;
    fields.add("topic", topic.name)
        .add("partitions", std::int64_t{topic.partitions})
        .add("replication", std::int64_t{topic.replication});
    return fields;
}

// Nothing else runs on the loop, so the blocking call may.
result<answer> apply_now(const kafka::settings& cluster, const arguments& given)
{
    const auto partitions = given.integer("partitions", 1, 10'000);
    if (!partitions)
        return partitions.error();
    const auto replication = given.integer("replication", 1, 100);
    if (!replication)
        return replication.error();
    const auto patience = given.integer("timeout", 1, 3'600);
    if (!patience)
        return patience.error();
    const auto content = read_file(given.at("FILE"));
    if (!content)
        return content.error();
    topic_overrides overrides;
    overrides.partitions = *partitions;
    overrides.replication = *replication;
    const auto topics = read_topics(*content, overrides);
    if (!topics)
        return topics.error();
    const auto applied =
        kafka::apply_topics(cluster, *topics, std::chrono::seconds(patience->value_or(default_patience_seconds)));
    if (!applied)
        return applied.error();
    std::vector<record> all;
    for (const auto& topic : *topics)
        all.push_back(to_record(topic));
    return answer("topics", std::move(all));
}

awaitable<result<answer>> apply(session& suite, arguments given)
{
    const auto cluster = suite.kafka();
    co_return apply_now(cluster, given);
}

} // namespace

std::vector<command> topic_commands()
{
    std::vector<command> commands;
    auto& applying =
        commands.emplace_back("topics apply", "Creates the topics of a file that are missing, and waits until all are usable");
    applying.positionals.emplace_back("FILE", "the topics as data: deploy/kafka/topics.json");
    applying.options.emplace_back("partitions", "N", "partitions of each topic, instead of the file's", option::kind::optional);
    applying.options.emplace_back("replication", "N", "copies of each partition, instead of the file's", option::kind::optional);
    applying.options.emplace_back("timeout", "SECONDS", "how long to wait, by default 60", option::kind::optional);
    applying.run = apply;
    return commands;
}

} // namespace tempinbox::ctl
