#include "tempinboxctl/command.hpp"

#include "common/core/embedded_file.hpp"
#include "common/events/events.hpp"
#include "common/http/client.hpp"
#include "common/http/url.hpp"
#include "common/kafka/names.hpp"
#include "common/kafka/schema_ids.hpp"
#include "tempinboxctl/schema_registry.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/text_file.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>

namespace tempinbox::schema_files {

// proto-schemas/tempinbox/events, compiled in.
extern const std::span<const embedded_file> files;

} // namespace tempinbox::schema_files

namespace tempinbox::ctl {
namespace {

std::string text_of(const google::protobuf::FileDescriptor& schema)
{
    const auto found = std::find_if(
        schema_files::files.begin(), schema_files::files.end(),
        [&](const embedded_file& one) { return one.path == "proto-schemas/" + schema.name(); });
    if (found == schema_files::files.end())
        throw std::logic_error("no such schema is compiled in: " + schema.name());
    return std::string(found->content);
}

result<schema_registry> read_registry(const arguments& given)
{
    schema_registry registry;
    registry.url = *given.value("registry");
    if (const auto url = http::target_url::parse(registry.url); !url)
        return failure{errc::invalid_argument, "--registry: " + url.error().message};
    registry.user = given.value("user").value_or("");
    const auto file = given.value("password-file");
    if (file.has_value() == registry.user.empty())
        return failure{errc::invalid_argument, "--user and --password-file are given together"};
    if (!file)
        return registry;
    auto password = read_secret_file(*file);
    if (!password)
        return password.error();
    registry.password = std::move(*password);
    return registry;
}

awaitable<result<command_result>> publish(session& suite, arguments given)
{
    const auto registry = read_registry(given);
    if (!registry)
        co_return registry.error();
    http::client_settings settings;
    settings.ca_file = given.value("ca-file").value_or("");
    http::client client(suite.host(), std::move(settings));
    http::sender send = [&client](http::client_request request) {
        return client.send(std::move(request));
    };

    std::vector<kafka::published_schema> published;
    std::vector<record> shown;
    for (const auto& [topic, message] : events::public_schemas()) {
        kafka::published_schema one;
        one.topic = topic;
        // As Confluent's TopicNameStrategy has it, by the topic's name in Kafka.
        one.subject = kafka::prefixed(suite.chosen().kafka, topic) + "-value";
        one.message_index = message->index();
        auto text = text_of(*message->file());
        const auto guid = co_await register_schema(send, *registry, one.subject, std::move(text));
        if (!guid)
            co_return guid.error();
        one.guid = *guid;
        shown.emplace_back()
            .add("topic", one.topic)
            .add("subject", one.subject)
            .add("guid", one.guid.text());
        published.push_back(std::move(one));
    }
    const auto written = write_text_file(*given.value("to"), kafka::to_json(published) + "\n");
    if (!written)
        co_return written.error();
    co_return command_result("schemas", std::move(shown));
}

} // namespace

std::vector<command> schema_commands()
{
    std::vector<command> commands;
    auto& publishing = commands.emplace_back(
        "schemas publish",
        "Registers the schemas of the events at a schema registry of Confluent's protocol and "
        "writes their ids to a file for the services' kafka-schema-ids-file; again without harm");
    publishing.options.emplace_back("registry", "URL", "the registry, such as http://host:8081",
                                    option::kind::required);
    publishing.options.emplace_back("to", "FILE", "where the ids are written",
                                    option::kind::required);
    publishing.options.emplace_back("user", "NAME", "for a registry that wants one",
                                    option::kind::optional);
    publishing.options.emplace_back(
        "password-file", "FILE", "the user's password in its first line", option::kind::optional);
    publishing.options.emplace_back("ca-file", "FILE",
                                    "who signed the registry's certificate (PEM), instead of the "
                                    "system's authorities",
                                    option::kind::optional);
    publishing.run = publish;
    return commands;
}

} // namespace tempinbox::ctl
