#include "common/kafka/settings.hpp"

#include "common/core/text.hpp"

#include <fstream>

namespace tempinbox::kafka {
namespace {

// `name = value` lines, as librdkafka's documentation spells them.
std::map<std::string, std::string> read_properties(const std::string& path, config::reader& reader,
                                                   std::string_view name)
{
    std::map<std::string, std::string> properties;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto text = trim(line);
        if (text.empty() || text.starts_with('#'))
            continue;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos)
            reader.add_problem(name, "has a line without `=`");
        else
            properties.emplace(trim(text.substr(0, equals)), trim(text.substr(equals + 1)));
    }
    return properties;
}

} // namespace

settings read_settings(config::reader& reader)
{
    settings chosen;
    for (const auto& broker :
         reader.addresses("kafka-brokers", "127.0.0.1:9092", "Kafka brokers to start from"))
        chosen.brokers += (chosen.brokers.empty() ? "" : ",") + broker.text();
    chosen.properties = read_properties_setting(reader);
    // queued.max.messages.kbytes of a consumer and queue.buffering.max.kbytes of a producer.
    constexpr std::uint64_t queued_bytes = 2 * 16 * 1024 * 1024;
    reader.add_memory("queues of the Kafka client", queued_bytes);
    return chosen;
}

std::map<std::string, std::string> read_properties_setting(config::reader& reader)
{
    constexpr const char* name = "kafka-properties-file";
    const auto path =
        reader.readable_file(name, "", "More of librdkafka's properties, such as TLS and SASL");
    return path.empty() ? std::map<std::string, std::string>()
                        : read_properties(path, reader, name);
}

} // namespace tempinbox::kafka
