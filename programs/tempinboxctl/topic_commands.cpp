#include "tempinboxctl/command.hpp"

#include "common/kafka/names.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/topic_file.hpp"

namespace tempinbox::ctl {
namespace {

constexpr std::int64_t default_timeout_seconds = 60;

using difference = kafka::topic_difference;

// What `topics apply` does not change.
bool stays(const difference& one)
{
    return one.what == difference::kind::more_partitions ||
           one.what == difference::kind::replication;
}

record to_record(const kafka::settings& cluster, const kafka::topic_spec& topic,
                 const std::vector<difference>& differences)
{
    const auto name = kafka::prefixed(cluster, topic.name);
    std::vector<std::string> changed, left;
    for (const auto& one : differences)
        if (one.topic == name)
            stays(one) ? left.push_back(text_of(one)) : changed.push_back(text_of(one, " -> "));
    record fields;
    fields.add("topic", name)
        .add("partitions", std::int64_t{topic.partitions})
        .add("replication", std::int64_t{topic.replication})
        .add("changed", std::move(changed))
        .add("leftAsIs", std::move(left));
    return fields;
}

record to_record(const difference& one)
{
    record fields;
    fields.add("topic", one.topic).add("difference", text_of(one));
    fields.add("remedy", one.what == difference::kind::fewer_partitions
                             ? "topics apply --repartition"
                         : stays(one) ? "none here: topics apply leaves it"
                                      : "topics apply");
    return fields;
}

struct apply_request
{
    std::vector<kafka::topic_spec> topics;
    std::chrono::seconds timeout;
};

result<apply_request> read_apply_request(const arguments& given)
{
    const auto partitions = given.integer("partitions", 1, 10'000);
    if (!partitions)
        return partitions.error();
    const auto replication = given.integer("replication", 1, 100);
    if (!replication)
        return replication.error();
    const auto timeout = given.integer("timeout", 1, 3'600);
    if (!timeout)
        return timeout.error();
    topic_overrides overrides;
    overrides.partitions = *partitions;
    overrides.replication = *replication;
    auto topics = read_topic_file(given.at("FILE"), overrides);
    if (!topics)
        return topics.error();
    return apply_request(std::move(*topics),
                         std::chrono::seconds(timeout->value_or(default_timeout_seconds)));
}

// Nothing else runs on the loop, so blocking calls are allowed.
result<command_result> apply_now(const kafka::settings& cluster, const arguments& given)
{
    const auto request = read_apply_request(given);
    if (!request)
        return request.error();
    const auto differences = kafka::compare_topics(cluster, request->topics, request->timeout);
    if (!differences)
        return differences.error();
    if (given.has("check")) {
        std::vector<record> all;
        for (const auto& one : *differences)
            all.push_back(to_record(one));
        command_result found("differences", std::move(all));
        found.is_failure = !differences->empty();
        return found;
    }
    const auto repartition =
        given.has("repartition") ? kafka::repartitioning::allowed : kafka::repartitioning::refused;
    const auto applied =
        kafka::apply_topics(cluster, request->topics, request->timeout, repartition);
    if (!applied && applied.error().code == errc::conflict)
        return failure{errc::conflict,
                       applied.error().message + ". --repartition adds them all the same"};
    if (!applied)
        return applied.error();
    std::vector<record> all;
    for (const auto& topic : request->topics)
        all.push_back(to_record(cluster, topic, *differences));
    return command_result("topics", std::move(all));
}

awaitable<result<command_result>> apply(session& suite, arguments given)
{
    const auto cluster = suite.kafka();
    co_return apply_now(cluster, given);
}

} // namespace

std::vector<command> topic_commands()
{
    std::vector<command> commands;
    auto& applying = commands.emplace_back(
        "topics apply",
        "Creates the topics of a file and alters those that differ; waits until all are usable");
    applying.positionals.emplace_back("FILE", "the topics as data: deploy/kafka/topics.json");
    applying.options.emplace_back("partitions", "N",
                                  "partitions of each topic, instead of the file's",
                                  option::kind::optional);
    applying.options.emplace_back("replication", "N",
                                  "copies of each partition, instead of the file's",
                                  option::kind::optional);
    applying.options.emplace_back(
        "check", "", "changes nothing; lists what differs, with exit code 1 where something does",
        option::kind::flag);
    applying.options.emplace_back("repartition", "",
                                  "adds partitions to topics that have fewer; keys move to others, "
                                  "so that events of one inbox may "
                                  "come out of order meanwhile",
                                  option::kind::flag);
    applying.options.emplace_back("timeout", "SECONDS", "how long to wait, by default 60",
                                  option::kind::optional);
    applying.run = apply;
    return commands;
}

} // namespace tempinbox::ctl
